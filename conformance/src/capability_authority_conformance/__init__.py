"""What any implementation of the Capability Authority has to do, and the means to find out whether it does.

Cases are stories of calls, written in YAML (`suites/`, schema: `suite.proto`). The runner knows the contract and
nothing of any service: it speaks gRPC, signs Invocations with its own keys, and verifies statements offline. Golden
vectors (`vectors/`) are made by `golden`, for whatever is done without a server.
"""
