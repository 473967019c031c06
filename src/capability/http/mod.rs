//! The door through which a hook reaches HTTP: rules, address checks, limits and secrets.

mod address;
mod agent;
mod domains;
mod door;
mod error;
mod exchange;
mod grant;
mod header;
mod host;
mod import;
mod limits;
mod message;
mod meter;
mod method;
mod network;
mod path;
mod redact;
mod redirect;
mod resolve;
mod rule;
mod rule_error;
mod secret;
mod socket;
mod target;
mod template;
mod tls;

#[cfg(test)]
mod tests;

pub use address::{Class, class};
pub use domains::Domains;
pub use door::{Door, StandIn};
pub use error::HttpError;
pub use grant::{Entry, GrantError, HttpGrant};
pub use header::{HeaderName, HeaderNameError};
pub use host::Host;
pub(crate) use import::too_many;
pub use limits::HttpLimits;
pub use message::{Request, Response};
pub use method::{Method, MethodError};
pub use network::{Network, NetworkError};
pub(crate) use redact::Redactor;
pub use resolve::{Resolve, system_resolver};
pub use rule::{Difference, Rule};
pub use rule_error::RuleError;
pub use secret::Secrets;
pub use target::{Scheme, Target};
pub use template::{Template, TemplateError};
