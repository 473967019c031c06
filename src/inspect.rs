//! Looks at a component without running it: what it is, and what it will ask for.

use std::collections::BTreeSet;

use serde::Serialize;
use wasmparser::{KnownCustom, Parser, Payload};

use crate::capability::grant::Kind;
use crate::failure::Failure;
use crate::sandbox::compiled::Digest;
use crate::sandbox::component::{Form, Outline, form};
use crate::sandbox::{contract, lift};

/// What a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// It exports the contract's handler.
    Hook,
    /// It is a program: it reads the event on standard input.
    Command,
    /// It is neither.
    Other,
}

/// What there is to say about a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// What it is.
    pub nature: Nature,
    /// The version of the contract it was built for, if it speaks of it.
    pub contract: Option<String>,
    /// Whether this hookbox runs it, and why not.
    pub problem: Option<String>,
    /// What it is written in, as far as its tools said.
    pub languages: Vec<String>,
    /// The tools that made it.
    pub tools: Vec<String>,
    /// What it imports of the contract without a grant.
    pub free: Vec<String>,
    /// What it imports that needs a grant, with the line that grants it.
    pub needs: Vec<Need>,
    /// What it imports of WASI, which is answered virtually.
    pub wasi: Vec<String>,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of its bytes.
    pub digest: String,
}

/// An import that needs a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Need {
    /// The import.
    pub import: String,
    /// An example of the line that grants it.
    pub grant: String,
}

impl Inspection {
    /// Looks at the bytes of a component, or of a program that would become one.
    ///
    /// # Errors
    /// Returns what the bytes are instead.
    pub fn of(bytes: &[u8]) -> Result<Self, Failure> {
        let lifted;
        let component = match form(bytes)? {
            Form::Component => bytes,
            Form::Module => {
                lifted = lift::command(bytes)?;
                &lifted
            }
        };
        let outline = Outline::read(component).unwrap_or_default();
        let (languages, tools) = producers(bytes);
        let mut inspection = Self {
            nature: nature(&outline),
            contract: contract::version_of(outline.names()).map(|version| version.to_string()),
            problem: outline.check().err().map(|failure| failure.message),
            languages,
            tools,
            free: Vec::new(),
            needs: Vec::new(),
            wasi: Vec::new(),
            size: bytes.len() as u64,
            digest: Digest::of(bytes).as_str().to_owned(),
        };
        inspection.sort(outline);
        Ok(inspection)
    }

    fn sort(&mut self, outline: Outline) {
        for import in outline.imports {
            if let Some(kind) = Kind::of_import(&import) {
                self.needs.push(Need {
                    import,
                    grant: format!("grant: {{ {} }}", kind.example()),
                });
            } else if import.starts_with(contract::OWN) {
                // The types are words, not a way out.
                if !import.starts_with("hookbox:hook/types") {
                    self.free.push(import);
                }
            } else {
                self.wasi.push(import);
            }
        }
    }
}

fn nature(outline: &Outline) -> Nature {
    let exports = |start: &str| outline.exports.iter().any(|name| name.starts_with(start));
    if exports("hookbox:hook/handler@") {
        Nature::Hook
    } else if outline.is_command() {
        Nature::Command
    } else {
        Nature::Other
    }
}

/// Reads what the tools wrote down about themselves, anywhere in a component.
fn producers(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut languages, mut tools) = (BTreeSet::new(), BTreeSet::new());
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        let Payload::CustomSection(section) = payload else {
            continue;
        };
        let KnownCustom::Producers(fields) = section.as_known() else {
            continue;
        };
        for field in fields.into_iter().map_while(Result::ok) {
            let set = match field.name {
                "language" => &mut languages,
                "processed-by" | "sdk" => &mut tools,
                _ => continue,
            };
            for value in field.values.into_iter().map_while(Result::ok) {
                set.insert(
                    format!("{} {}", value.name, value.version)
                        .trim()
                        .to_owned(),
                );
            }
        }
    }
    // The preview-1 adapter and QuickJS's runtime are Rust, whatever the hook is.
    let own: Vec<String> = languages
        .iter()
        .filter(|language| *language != "Rust")
        .cloned()
        .collect();
    let languages = if own.is_empty() {
        languages.into_iter().collect()
    } else {
        own
    };
    (languages, tools.into_iter().collect())
}
