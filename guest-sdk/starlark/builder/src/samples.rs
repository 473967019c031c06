//! Texts as hooks have them, each with a payload: what they use of the interpreter is what
//! calls use.

/// A text to load, and the payload to call it with.
pub enum Sample {
    /// A `when` expression.
    When(&'static str, &'static str),
    /// A script.
    Script(&'static str, &'static str),
}

use Sample::{Script, When};

const COMMAND: &str = r#"{"id":"call_1","name":"run_command","arguments":"{\"command\": \"rm -rf ./build && ls\"}","args":{"command":"rm -rf ./build && ls","timeout":30,"env":{"CI":"1"}}}"#;
const EDIT: &str = r#"{"id":"call_2","name":"write_file","arguments":"{}","args":{"path":"src/main.rs","content":"fn main() {\n    println!(\"é\");\n}\n","dry_run":false,"ratio":0.5,"lines":[1,2,3],"mode":null}}"#;

/// The samples.
pub const SAMPLES: &[Sample] = &[
    When(r#"payload["name"] == "run_command""#, COMMAND),
    When(
        r#"payload.get("name", "") in ["write_file", "edit_file"] and event == "tool.pre""#,
        EDIT,
    ),
    When(
        r#"len(str(payload.get("content", ""))) > 4000 or not payload["args"]"#,
        EDIT,
    ),
    When(
        r#"any([word in args
            for args in [str(payload["args"].values()).lower().replace("\\", "").replace("'", "")]
            for word in "rm mkfs dd shutdown".split(" ")
        ]) and ("command" in payload["args"] or payload["name"].lower().split("__")[-1] in "bash sh".split(" "))"#,
        COMMAND,
    ),
    When(
        r#"any([word + end in args
            for args in [str(payload["args"]).lower()]
            for end in ["\":", "s\":"]
            for word in "path file name".split(" ")])"#,
        EDIT,
    ),
    When(
        r#"(payload["name"].replace("_", ".") + ".").startswith(("exec.", "os.system."))"#,
        COMMAND,
    ),
    When(
        r#"payload["args"]["path"].endswith(".rs") and payload["args"]["lines"][0] < 2"#,
        EDIT,
    ),
    When(r#"payload["absent"] == 1"#, EDIT),
    Script("def handle(event, payload):\n    return allow()\n", COMMAND),
    Script(
        r#"
def handle(event, payload):
    metrics.incr("audit.tool.pre")
    log.info("tool.pre " + json.encode({"id": payload["id"], "name": payload["name"]}))
    return allow()
"#,
        COMMAND,
    ),
    Script(
        r#"
_DANGEROUS = ["rm -rf /", "mkfs", "dd if="]

def _first(command):
    for pattern in _DANGEROUS:
        if pattern in command:
            return pattern
    return None

def handle(event, payload):
    command = payload.get("args", {}).get("command", "").strip().lower()
    if re.search("(?:^|[;&|] *)rm +-[a-z]*r", command) or _first(command) != None:
        metrics.incr("audit.policy.deny")
        return block("dangerous command: '" + command + "'")
    return allow()
"#,
        COMMAND,
    ),
    Script(
        r#"
_KEYS = tuple("path file target".split(" "))

def handle(event, payload):
    waiting = [(False, payload["args"])]
    for _ in range(1000):
        if not waiting:
            return allow()
        is_path, value = waiting.pop()
        if type(value) == "dict":
            waiting.extend([(key.lower().endswith(_KEYS), value[key]) for key in value])
        elif type(value) == "list":
            for one in value:
                waiting.append((is_path, one))
        elif is_path and (value.startswith("/") or ".." in value.split("/")):
            return block("'{}' leaves the project".format(value))
    return block("nested too deep")
"#,
        EDIT,
    ),
    Script(
        r#"
def handle(event, payload):
    args = dict(payload["args"])
    args["content"] = re.replace("[ \\t]+\n", "\n", args["content"])
    args["note"] = f"{len(args)} arguments, {args['path']}"
    args.pop("dry_run", None)
    payload["args"] = args
    return modify(payload)
"#,
        EDIT,
    ),
];
