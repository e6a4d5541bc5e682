"""What a client asks the servers, by the drivers that the service uses."""

import asyncpg
import redis


async def ask_postgres(url: str, *statements: str) -> object:
    """Run statements on a new connection; answers the one value of the last."""
    connection = await asyncpg.connect(url)
    answer: object
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        answer = await connection.fetchval(statements[-1])
    finally:
        await connection.close()
    return answer


def ask_valkey(url: str, *command: str) -> object:
    """Run one command on a new connection, once: the driver would try ten times."""
    with redis.Redis.from_url(url, retry=None, socket_timeout=10, decode_responses=True) as client:
        answer: object = client.execute_command(*command)
    return answer
