# A Worker as old as one may be, without Node's modules and globals: what runs here runs on all.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    ( name = "main",
      worker = (
        modules = [(name = "workerd.mjs", esModule = embed "workerd.mjs")],
        compatibilityDate = "2023-01-01",
        globalOutbound = "loopback",
      ),
    ),
    (name = "loopback", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
