"""Writes the three rings of a Swift with one device: rings.py FOLDER BASE_PORT (object, container, account: +1, +2, +3)."""

import sys

from swift.common.ring import RingBuilder

folder, base_port = sys.argv[1], int(sys.argv[2])
for offset, name in enumerate(("object", "container", "account"), start=1):
    address = {"ip": "127.0.0.1", "port": base_port + offset}
    replication = {"replication_ip": address["ip"], "replication_port": address["port"]}
    builder = RingBuilder(part_power=4, replicas=1, min_part_hours=1)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "device": "disk", "weight": 1, "meta": "", **address, **replication})
    builder.rebalance()
    builder.get_ring().save(f"{folder}/{name}.ring.gz")
