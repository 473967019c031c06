//! The commands of hookbox itself.

/// Verbs that look, or that write only what they are told to.
const HARMLESS: &[&str] = &[
    "run",
    "validate",
    "explain",
    "events",
    "new",
    "build",
    "test",
    "bench",
    "inspect",
    "replay",
    "diff",
    "tape",
    "doctor",
    "help",
    "version",
    "completions",
    "schema",
    "status",
    "check",
    "hook",
    "list",
];

/// Verbs that change what is trusted or what is hooked.
const CHANGING: &[&str] = &[
    "trust",
    "untrust",
    "distrust",
    "install",
    "uninstall",
    "enable",
    "disable",
    "stop",
    "restart",
    "upgrade",
    "update",
    "self-update",
    "config",
    "lock",
    "unlock",
    "approve",
    "allow",
    "migrate",
    "clean",
    "reset",
    "remove",
    "off",
    "init",
    "set",
];

/// Options with which a harmless verb writes files.
const WRITING: &[&str] = &[
    "--update", "--tape", "--junit", "-o", "--output", "--out", "--fix",
];

/// What a command of hookbox does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Looks,
    Writes,
    Changes,
}

/// Says what a command line of hookbox does, its name left out.
pub(super) fn does(args: &[String]) -> Does {
    let verb = args.iter().position(|arg| !arg.starts_with('-'));
    let Some(verb) = verb else {
        return Does::Looks;
    };
    // After an option that is not known, what looks like the verb may be its value.
    let may_hide = verb > 0 && args.iter().any(|arg| CHANGING.contains(&arg.as_str()));
    let name = args.get(verb).map_or("", String::as_str);
    let starts = name == "serve" && !args.iter().any(|arg| arg.contains("stop"));
    let known = HARMLESS.contains(&name) || starts;
    let value = verb > 0 && args.iter().any(|arg| HARMLESS.contains(&arg.as_str()));
    if may_hide || !(known || value) {
        return Does::Changes;
    }
    let writes = |arg: &String| WRITING.iter().any(|option| arg.starts_with(option));
    if args.iter().any(writes) || starts {
        Does::Writes
    } else {
        Does::Looks
    }
}

/// Says whether a text, such as a program, has hookbox change something.
pub(super) fn in_text(text: &str) -> bool {
    if !text.contains("hookbox") {
        return false;
    }
    let word = |c: char| c.is_alphanumeric() || "-_./\\".contains(c);
    let mut words = text.split(|c| !word(c)).filter(|word| !word.is_empty());
    let mut called = false;
    for word in words.by_ref() {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        if called
            && CHANGING
                .iter()
                .take(4)
                .chain(&["uninstall", "disable"])
                .any(|verb| *verb == name)
        {
            return true;
        }
        called = is_hookbox(name) || called && name.starts_with('-');
    }
    false
}

/// Says whether a program is hookbox, by its name.
pub(super) fn is_hookbox(name: &str) -> bool {
    matches!(name, "hookbox" | "hookbox.exe")
}
