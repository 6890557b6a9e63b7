"""The one gevent room: sockets, scheduling, time, names and forks. Nothing else imports gevent."""
