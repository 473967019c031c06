//! The `[build]` table of `hookbox.toml`: how a hook's component comes about.

use std::fmt;

use super::Reader;
use crate::yaml::Node;

/// A language hooks are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// JavaScript.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// Python.
    Python,
    /// Go.
    Go,
    /// C.
    C,
    /// Zig.
    Zig,
    /// Starlark in a Markdown file, which needs no building.
    Starlark,
}

impl Language {
    /// All languages, in the order in which people are told of them.
    pub const ALL: [Self; 8] = [
        Self::Rust,
        Self::JavaScript,
        Self::TypeScript,
        Self::Python,
        Self::Go,
        Self::C,
        Self::Zig,
        Self::Starlark,
    ];

    /// Returns the word for it in `hookbox.toml` and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Python => "python",
            Self::Go => "go",
            Self::C => "c",
            Self::Zig => "zig",
            Self::Starlark => "starlark",
        }
    }

    /// Finds a language by its word, or by one people also use.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let meant = match word.as_str() {
            "js" => "javascript",
            "ts" => "typescript",
            "py" => "python",
            "rs" => "rust",
            "golang" => "go",
            other => other,
        };
        Self::ALL
            .into_iter()
            .find(|language| language.name() == meant)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// How a hook's component comes about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildSettings {
    /// What it is written in.
    pub language: Language,
    /// The file to begin with, where the language has no fixed one.
    pub source: Option<String>,
    /// The folder that holds an SDK for each language; the one that comes with
    /// hookbox unless told otherwise.
    pub sdk: Option<String>,
    /// Whether JavaScript runs in SpiderMonkey instead of QuickJS.
    pub spidermonkey: bool,
}

const KEYS: [&str; 4] = ["language", "source", "sdk", "engine"];

/// Reads the table.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> Option<BuildSettings> {
    let Some(entries) = node.as_map() else {
        let message = format!("build must be a table, not {}", node.kind_name());
        reader.error(message, &node.span);
        return None;
    };
    for (key, _) in entries {
        if !KEYS.contains(&key.name.as_str()) {
            reader.unknown_key("settings of a build", key, KEYS);
        }
    }
    let language = language(node, reader)?;
    Some(BuildSettings {
        language,
        source: text(node, "source", reader),
        sdk: text(node, "sdk", reader),
        spidermonkey: engine(node, language, reader),
    })
}

fn language(node: &Node, reader: &mut Reader<'_>) -> Option<Language> {
    let Some((_, given)) = node.entry("language") else {
        let help = format!("add for example `language = \"{}\"`", Language::Rust);
        reader.error_with_help("build has no language", &node.span, help);
        return None;
    };
    let found = given.as_str().and_then(Language::find);
    if found.is_none() {
        let names = Language::ALL.map(Language::name).join(", ");
        reader.error_with_help(
            "this is not a language hookbox builds",
            &given.span,
            format!("the languages are {names}; any other can be built to a component with its own tools"),
        );
    }
    found
}

fn text(node: &Node, key: &str, reader: &mut Reader<'_>) -> Option<String> {
    let (_, given) = node.entry(key)?;
    if given.as_str().is_none() {
        let message = format!("build.{key} must be a string, not {}", given.kind_name());
        reader.error(message, &given.span);
    }
    given.as_str().map(str::to_owned)
}

fn engine(node: &Node, language: Language, reader: &mut Reader<'_>) -> bool {
    let Some(engine) = text(node, "engine", reader) else {
        return false;
    };
    let scripted = matches!(language, Language::JavaScript | Language::TypeScript);
    let span = node.get("engine").map_or(0..0, |node| node.span.clone());
    match engine.as_str() {
        "quickjs" if scripted => false,
        "spidermonkey" if scripted => true,
        _ if !scripted => {
            let message = format!("build.engine is for javascript and typescript, not {language}");
            reader.error(message, &span);
            false
        }
        _ => {
            let help = "write `engine = \"quickjs\"` or `engine = \"spidermonkey\"`";
            reader.error_with_help("there is no such engine", &span, help);
            false
        }
    }
}
