//! Looks at the code of a hook without running it. Source is untrusted, so even
//! parsing it happens in the sandbox.

use std::ops::Range;
use std::sync::Arc;

use cap_std::fs::Dir;

use super::source::{beside, read_component};
use crate::capability::grant::{Grants, Kind};
use crate::config::Granted;
use crate::diagnostic::{Diagnostic, Source};
use crate::dialect::kept::Kept;
use crate::failure::Failure;
use crate::handler::starlark::{
    Entry, Function, Parser, Problem, Report, Script, Text, UseOfBuiltin,
};
use crate::handler::{Handler, Workshop};
use crate::sandbox::compiled::Digest;
use crate::sandbox::component::Outline;
use crate::yaml::Node;

/// Looks at Starlark once there is some: a project of components alone needs no
/// interpreter.
pub(super) struct LazyParser<'a> {
    workshop: &'a Workshop,
    parser: Option<Parser<'a>>,
}

impl<'a> LazyParser<'a> {
    pub(super) fn new(workshop: &'a Workshop) -> Self {
        Self {
            workshop,
            parser: None,
        }
    }

    fn get(&mut self) -> Result<&mut Parser<'a>, Failure> {
        match &mut self.parser {
            Some(parser) => Ok(parser),
            none => Ok(none.insert(self.workshop.parser()?)),
        }
    }
}

/// Checks the code of one hook.
pub(super) struct Checker<'a, 'w> {
    pub(super) workshop: &'w Workshop,
    pub(super) parser: &'a mut LazyParser<'w>,
    pub(super) source: &'a Arc<Source>,
    pub(super) name: &'a str,
    pub(super) strict: bool,
    /// Whether the hook's own file can grant something.
    pub(super) grants_itself: bool,
    /// What the code reaches for.
    pub(super) uses: Vec<Use>,
    pub(super) problems: &'a mut Vec<Diagnostic>,
}

/// Something the code reaches for: an import of a component, a built-in of a script.
#[derive(Debug)]
pub(super) struct Use {
    /// In the words of a message.
    what: String,
    /// The import it stands for.
    import: String,
    in_component: bool,
    span: Range<usize>,
}

impl Checker<'_, '_> {
    /// Checks a `when` expression.
    pub(super) fn when(&mut self, node: &Node) -> Option<Arc<Text>> {
        let text = self.text(node);
        match self.parser.get().and_then(|parser| parser.when(&text.code)) {
            Ok(report) => self.report(&text, &report).then(|| Arc::new(text)),
            Err(failure) => {
                self.unparsable("when", node, &failure);
                None
            }
        }
    }

    /// Checks a script.
    pub(super) fn script(&mut self, node: &Node, scoped: bool) -> Option<Arc<Script>> {
        let text = self.text(node);
        match self
            .parser
            .get()
            .and_then(|parser| parser.script(&text.code))
        {
            Ok(report) => {
                let sound = self.report(&text, &report.findings);
                if sound {
                    self.uses = uses_of_script(&text, &report.uses);
                    self.entry(report.entry, node);
                    self.scope(&text, node, scoped);
                }
                sound.then(|| {
                    Arc::new(Script {
                        text,
                        entry: report.entry,
                    })
                })
            }
            Err(failure) => {
                self.unparsable("script", node, &failure);
                None
            }
        }
    }

    /// Takes a `when` that was checked before.
    pub(super) fn known_when(&self, node: &Node) -> Arc<Text> {
        Arc::new(self.text(node))
    }

    /// Takes a script that was checked before, and has an entry point.
    pub(super) fn known_script(&self, node: &Node) -> Arc<Script> {
        Arc::new(Script {
            text: self.text(node),
            entry: Entry::Present,
        })
    }

    /// Takes a component that was checked before.
    pub(super) fn known_component(
        &mut self,
        root: &Dir,
        node: &Node,
        kept: &Kept,
    ) -> Option<Handler> {
        let path = beside(&self.source.path, node.as_str().unwrap_or_default());
        let known = kept.component(&path);
        let handler = known.and_then(|known| {
            let digest = Digest::known(&known.digest);
            let bytes = || read_component(root, &path).unwrap_or_default();
            let made = self
                .workshop
                .kept_component(&path, &digest, known.command, bytes);
            made.ok()
        });
        if handler.is_none() {
            // The project is loaded anew then, and says what is wrong.
            self.error(format!("component {path:?} is not kept"), &node.span);
        }
        handler
    }

    /// Checks a function of a module that is a file of its own.
    pub(super) fn function(&mut self, function: &str) -> Option<Arc<Function>> {
        let module = Text::of_file(self.source);
        let code = Function::entry(&module.code, function);
        match self.parser.get().and_then(|parser| parser.script(&code)) {
            Ok(report) => {
                let sound = self.report(&module, &report.findings);
                if sound {
                    self.uses = uses_of_script(&module, &report.uses);
                }
                sound.then(|| Arc::new(Function::new(module, function)))
            }
            Err(failure) => {
                let message = format!("{:?} cannot be checked: {failure}", self.name);
                self.error(message, &(0..0));
                None
            }
        }
    }

    /// Checks and compiles a component. Its path starts at the hook's own file.
    /// One that is not granted what it imports is not compiled in the first place.
    pub(super) fn component(
        &mut self,
        root: &Dir,
        node: &Node,
        grants: &Grants,
        own: &[Granted],
    ) -> Option<Handler> {
        let path = node.as_str().unwrap_or_default();
        let bytes = match read_component(root, &beside(&self.source.path, path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                let missing = error.kind() == std::io::ErrorKind::NotFound;
                let help = "build it with `hookbox build`, or put it beside the hook's file";
                self.say(
                    true,
                    format!("component {path:?} cannot be read: {error}"),
                    node.span.clone(),
                    missing.then_some(help),
                );
                return None;
            }
        };
        let outline = Outline::read(&bytes).unwrap_or_default();
        self.uses = uses_of_component(path, &outline.imports, node);
        if self.lacks_a_grant(grants, own) {
            return None;
        }
        match self.workshop.component(path, bytes) {
            Ok(handler) => {
                self.uses = uses_of_component(path, handler.imports(), node);
                Some(handler)
            }
            Err(failure) => {
                self.error(format!("component {path:?}: {failure}"), &node.span);
                None
            }
        }
    }

    /// Compares what the code reaches for with what it is granted, and returns
    /// what it uses of that.
    pub(super) fn grants(&mut self, grants: &Grants, own: &[Granted]) -> Vec<Kind> {
        self.lacks_a_grant(grants, own);
        let used = |kind: Kind| self.uses.iter().any(|used| kind.is_used_by(&used.import));
        let (used, unused): (Vec<Kind>, Vec<Kind>) =
            Kind::ALL.into_iter().partition(|kind| used(*kind));
        for granted in own.iter().filter(|granted| unused.contains(&granted.kind)) {
            let message = format!(
                "hook {:?} does not use the grant {}",
                self.name,
                granted.kind.key()
            );
            let help = Some("remove it: a grant that nobody uses is still one to review");
            self.say(false, message, granted.span.clone(), help);
        }
        used
    }

    /// Says what the code reaches for without being granted it, and whether there is
    /// any of that.
    fn lacks_a_grant(&mut self, grants: &Grants, own: &[Granted]) -> bool {
        let uses = std::mem::take(&mut self.uses);
        let mut lacks = false;
        for used in &uses {
            let missing = Kind::of_import(&used.import).filter(|kind| {
                // What is wrong with a grant that is there was said where it was read.
                !grants.has(*kind) && !own.iter().any(|granted| granted.kind == *kind)
            });
            if let Some(kind) = missing {
                self.missing_grant(used, kind);
                lacks = true;
            }
        }
        self.uses = uses;
        lacks
    }

    fn missing_grant(&mut self, used: &Use, kind: Kind) {
        let message = format!("{}, which hook {:?} is not granted", used.what, self.name);
        let mut help = if self.grants_itself {
            format!(
                "grant it in the frontmatter: `grant: {{ {} }}`",
                kind.example()
            )
        } else {
            format!("grant `{}` in hookbox.toml, under `[grant]`", kind.key())
        };
        if used.in_component {
            help += ", or build the component without it, for example for the world `guard`";
        }
        self.say(true, message, used.span.clone(), Some(&help));
    }

    /// Says that a hook does nothing, where that is asked for.
    pub(super) fn placeholder(&mut self, span: &Range<usize>) {
        let message = format!(
            "hook {:?} has no script, so it lets every event pass",
            self.name
        );
        self.say(self.strict, message, span.clone(), None);
    }

    fn text(&self, node: &Node) -> Text {
        Text {
            code: node.as_str().unwrap_or_default().to_owned(),
            source: Arc::clone(self.source),
            span: node.span.clone(),
            style: node.style,
            loaded: Default::default(),
        }
    }

    /// Takes over what the interpreter found; says whether the text can run.
    fn report(&mut self, text: &Text, report: &Report) -> bool {
        for problem in &report.errors {
            let message = problem.message.strip_prefix("Parse error: ");
            let message = message.map_or_else(
                || problem.message.clone(),
                |message| format!("hook {:?} has a syntax error: {message}", self.name),
            );
            let diagnostic = Diagnostic::error(message);
            self.problems.push(self.place(text, problem, diagnostic));
        }
        for problem in &report.warnings {
            let message = problem.message.clone();
            let diagnostic = if self.strict {
                Diagnostic::error(message)
            } else {
                Diagnostic::warning(message)
            };
            self.problems.push(self.place(text, problem, diagnostic));
        }
        report.errors.is_empty() && (report.warnings.is_empty() || !self.strict)
    }

    fn place(&self, text: &Text, problem: &Problem, diagnostic: Diagnostic) -> Diagnostic {
        match &problem.at {
            Some(span) => diagnostic.at(self.source, text.locate(span)),
            None => diagnostic.in_file(self.source.path.clone()),
        }
    }

    /// The format lets a script without `handle` load, and fail when it is called.
    fn entry(&mut self, entry: Entry, node: &Node) {
        let message = match entry {
            Entry::Present => return,
            Entry::Missing => format!(
                "hook {:?} defines no `handle`, so every call of it fails",
                self.name
            ),
            Entry::WrongShape => {
                format!(
                    "`handle` of hook {:?} does not take two arguments, so every call of it fails",
                    self.name
                )
            }
        };
        let help = "define `def handle(event, payload):` at the top level of the script";
        self.say(
            self.strict,
            message,
            first_line(&self.source.text, &node.span),
            Some(help),
        );
    }

    /// Asking for the tool's name in `handle` costs a call that `when` saves.
    fn scope(&mut self, text: &Text, node: &Node, scoped: bool) {
        let asks = [
            "payload[\"name\"] ==",
            "payload[\"name\"] !=",
            "payload.get(\"name\") ==",
        ];
        if scoped || !asks.iter().any(|ask| text.code.contains(ask)) {
            return;
        }
        let message = format!("hook {:?} looks at the tool's name in `handle`", self.name);
        let help = "scope it with `when: payload[\"name\"] == ...`: the hook is then not called for other tools";
        self.say(
            false,
            message,
            first_line(&self.source.text, &node.span),
            Some(help),
        );
    }

    fn unparsable(&mut self, key: &str, node: &Node, failure: &Failure) {
        let span = first_line(&self.source.text, &node.span);
        self.error(
            format!(
                "hook {:?}: its {key} cannot be checked: {failure}",
                self.name
            ),
            &span,
        );
    }

    fn error(&mut self, message: String, span: &Range<usize>) {
        self.say(true, message, span.clone(), None);
    }

    fn say(&mut self, error: bool, message: String, span: Range<usize>, help: Option<&str>) {
        let diagnostic = if error {
            Diagnostic::error(message)
        } else {
            Diagnostic::warning(message)
        };
        let diagnostic = diagnostic.at(self.source, span);
        self.problems.push(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }
}

fn uses_of_component(path: &str, imports: &[String], node: &Node) -> Vec<Use> {
    let used = |import: &String| Use {
        what: format!("component {path:?} imports {import}"),
        import: import.clone(),
        in_component: true,
        span: node.span.clone(),
    };
    imports.iter().map(used).collect()
}

/// The imports that the built-ins of a script stand for.
fn uses_of_script(text: &Text, uses: &[UseOfBuiltin]) -> Vec<Use> {
    uses.iter()
        .map(|used| Use {
            what: format!("the script uses {}", used.name),
            in_component: false,
            import: match used.name.as_str() {
                "env" => "hookbox:hook/environment".to_owned(),
                name => format!("hookbox:hook/{name}"),
            },
            span: text.locate(&used.at),
        })
        .collect()
}

/// The part of a span on its first line: nobody wants a caret under a whole script.
fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let rest = text.get(span.clone()).unwrap_or_default();
    let end = rest.find(['\r', '\n']).unwrap_or(rest.len());
    span.start..span.start + end
}
