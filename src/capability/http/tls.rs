//! TLS with the roots of the system, loaded once for all entries of a grant.

use std::sync::Arc;

use ureq::Error;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::transport::{ConnectionDetails, Connector, RustlsConnector, Transport};

/// Returns the TLS settings: rustls, verified against the roots of the system.
pub(super) fn settings() -> TlsConfig {
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::PlatformVerifier)
        .build()
}

/// A TLS connector that several agents share.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedTls(Arc<RustlsConnector>);

impl<In: Transport> Connector<In> for SharedTls {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        // Each request brings its own timeout, and the library does not keep
        // TLS settings that come with a request. Ours never differ, so they are
        // presented as those of the agent; else the roots are read every time.
        let details = ConnectionDetails {
            uri: details.uri,
            addrs: details.addrs.clone(),
            config: details.config,
            request_level: false,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: Arc::clone(&details.current_time),
            run_connector: Arc::clone(&details.run_connector),
            register_shutdown: Arc::clone(&details.register_shutdown),
        };
        Connector::<In>::connect(self.0.as_ref(), &details, chained)
    }
}
