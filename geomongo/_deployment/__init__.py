"""Connections, pools, servers, monitors and the topology of one deployment, in one process and on one hub."""
