//! Namespaces.

use super::super::Namespace;

#[test]
fn a_shared_namespace_has_a_plain_name() {
    let long = "x".repeat(65);
    let cases = [
        ("rate-limits", true),
        ("A.b_9", true),
        (&long[..64], true),
        (&long, false),
        ("", false),
        ("hook/a", false),
        ("a b", false),
        ("é", false),
        ("a\0", false),
        ("a\n", false),
        ("{a}", false),
    ];
    for (name, accepted) in cases {
        assert_eq!(Namespace::shared(name).is_ok(), accepted, "{name:?}");
    }
}

#[test]
fn no_shared_namespace_is_the_one_of_a_hook() {
    for name in ["", "a", "hook", ".", "..", "/"] {
        let own = Namespace::of_hook(name);
        assert_eq!(own.as_str(), format!("hook/{name}"));
        assert!(Namespace::shared(own.as_str()).is_err());
    }
}
