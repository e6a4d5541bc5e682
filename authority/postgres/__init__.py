"""PostgreSQL: all SQL and all SQLSTATEs end in this room. It decides; everything else hastens."""
