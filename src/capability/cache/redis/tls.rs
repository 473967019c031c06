//! TLS to a server, verified with the roots of the system.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// What it takes to speak TLS with one server.
#[derive(Clone)]
pub(super) struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    /// Prepares for the server with this name. The roots of the system are read once.
    pub(super) fn new(host: &str) -> Result<Self, String> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("{host:?} cannot have a certificate"))?;
        // Named, because another crate may bring a second one into the build.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_platform_verifier())
            .map_err(|error| error.to_string())?
            .with_no_client_auth();
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }

    /// Starts a session. The certificate is checked when the first bytes come in.
    pub(super) fn session(&self) -> Result<Box<ClientConnection>, String> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map(Box::new)
            .map_err(|error| error.to_string())
    }
}
