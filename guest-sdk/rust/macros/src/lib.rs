//! The `#[hook]` attribute of `hookbox-guest`.
//!
//! Works on tokens as they come, without a parser for the whole language: a hook's
//! first build should not spend its time on the attribute.

use proc_macro::{Group, Ident, Span, TokenStream, TokenTree};

/// Makes a function the hook of this component.
///
/// The function takes an `Event` and returns a `Decision`, or a `Result` of one with
/// any error that can be displayed. A component has exactly one hook.
#[proc_macro_attribute]
pub fn hook(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = function.clone().into_iter().collect();
    let expansion = no_arguments(arguments)
        .and_then(|()| Signature::find(&tokens))
        .and_then(|signature| signature.check())
        .map_or_else(Refusal::into_tokens, |name| entry(&name));
    // The function stays even if it is refused, so that nothing else is reported missing.
    function.into_iter().chain(expansion).collect()
}

/// Writes the entry point that calls the function.
fn entry(name: &Ident) -> TokenStream {
    let code = format!("::hookbox_guest::__export!({name});");
    at(name.span(), code.parse().unwrap_or_default())
}

/// A function's signature, as far as a hook's must have a certain shape.
struct Signature<'a> {
    before: &'a [TokenTree],
    name: &'a Ident,
    after: &'a [TokenTree],
}

impl<'a> Signature<'a> {
    fn find(tokens: &'a [TokenTree]) -> Result<Self, Refusal> {
        let keyword = tokens
            .iter()
            .position(|token| is_word(token, "fn"))
            .ok_or_else(|| Refusal::new(Span::call_site(), "`#[hook]` belongs on a function"))?;
        match &tokens[keyword + 1..] {
            [TokenTree::Ident(name), after @ ..] => Ok(Self {
                before: &tokens[..keyword],
                name,
                after,
            }),
            _ => Err(Refusal::new(
                tokens[keyword].span(),
                "`#[hook]` belongs on a function with a name",
            )),
        }
    }

    fn check(&self) -> Result<Ident, Refusal> {
        for word in ["async", "const", "unsafe", "extern"] {
            if let Some(token) = self.before.iter().find(|token| is_word(token, word)) {
                let message = format!("a hook is a plain function: remove `{word}`");
                return Err(Refusal::new(token.span(), message));
            }
        }
        let parameters = match self.after.first() {
            Some(TokenTree::Group(group)) => group,
            _ => {
                return Err(Refusal::new(
                    self.name.span(),
                    "a hook cannot be generic: write the payload's type, as in `Event<MyPayload>`",
                ));
            }
        };
        check_parameters(parameters)?;
        match &self.after[1..] {
            [TokenTree::Punct(dash), ..] if dash.as_char() == '-' => Ok(self.name.clone()),
            _ => Err(Refusal::new(
                self.name.span(),
                "a hook must return a decision: write `-> Decision` or `-> Result<Decision, Error>`",
            )),
        }
    }
}

fn check_parameters(parameters: &Group) -> Result<(), Refusal> {
    let mut tokens = parameters.stream().into_iter().peekable();
    if tokens.peek().is_none() {
        return Err(Refusal::new(
            parameters.span(),
            "a hook takes the event: write `(event: Event)`",
        ));
    }
    match tokens.take(3).find(|token| is_word(token, "self")) {
        Some(token) => Err(Refusal::new(
            token.span(),
            "a hook is a free function, not a method: remove `self`",
        )),
        None => Ok(()),
    }
}

fn no_arguments(arguments: TokenStream) -> Result<(), Refusal> {
    match arguments.into_iter().next() {
        Some(token) => Err(Refusal::new(
            token.span(),
            "`#[hook]` takes nothing: event, priority and grants stand in the hook file",
        )),
        None => Ok(()),
    }
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

/// Why a function cannot be a hook, and where it says so.
struct Refusal {
    span: Span,
    message: String,
}

impl Refusal {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }

    fn into_tokens(self) -> TokenStream {
        let code = format!("::core::compile_error!({:?});", self.message);
        at(self.span, code.parse().unwrap_or_default())
    }
}

/// Moves tokens to a place in the hook's source, where the compiler then reports
/// what is wrong with them.
fn at(span: Span, tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let mut moved = Group::new(group.delimiter(), at(span, group.stream()));
                moved.set_span(span);
                return TokenTree::Group(moved);
            }
            token.set_span(span);
            token
        })
        .collect()
}
