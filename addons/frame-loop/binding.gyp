{
  "targets": [
    {
      "target_name": "frame_loop",
      "sources": ["addon.c", "frame_loop.c"],
      "cflags": ["-O2", "-Wall", "-Wextra", "-fstack-protector-strong", "-fvisibility=hidden"]
    }
  ]
}
