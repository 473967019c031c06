// Makes `hookbox:hook/…` importable in Node: the modules beside this file stand in for the host.
import { register } from "node:module";

register("./resolve.js", import.meta.url);
