//! What the environment of the process must not, and may, change. Each test
//! runs itself once more as a child, because the environment is shared.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::{Server, ok};
use super::{door, everything_here, get, local, send};

const CHILD: &str = "HOOKBOX_TEST_HTTP_CHILD";

/// Runs this test again with `environment`, and `url` for [`act`].
fn run_again(test: &str, url: &str, environment: &[(&str, &str)]) -> Output {
    let module = module_path!();
    let path = module.split_once("::").map_or(module, |(_, path)| path);
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", &format!("{path}::{test}")])
        .env(CHILD, url)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// In the child: sends the request, prints what came of it, and says that it was the child.
fn act() -> bool {
    let Ok(url) = std::env::var(CHILD) else {
        return false;
    };
    let entries = vec![
        local("GET http://a.test:*/*"),
        local("GET https://a.test:*/*"),
        local("GET https://*.a.test:*/*"),
    ];
    match send(&door(entries, everything_here()), get(&url)) {
        Ok(response) => println!("outcome: {}", String::from_utf8_lossy(&response.body)),
        Err(error) => println!("outcome: {error:?}"),
    }
    true
}

fn outcome(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text.lines().find_map(|line| line.split_once("outcome: "));
    found
        .unwrap_or_else(|| panic!("no outcome in {text}"))
        .1
        .to_owned()
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    if act() {
        return;
    }
    let server = Server::fixed(ok("direct"));
    let proxy = Server::fixed(ok("proxied"));
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let names = [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ];
    let mut environment: Vec<_> = names.iter().map(|name| (*name, address.as_str())).collect();
    environment.extend([("NO_PROXY", ""), ("no_proxy", "")]);
    let test = "proxies_of_the_environment_are_ignored";
    let output = run_again(test, &server.url("a.test", "/"), &environment);
    assert_eq!(outcome(&output), "direct");
    assert_eq!(proxy.accepted(), 0);
}

/// A certificate authority, and a TLS server whose certificate it signed.
fn tls_server() -> (String, u16) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || serve_tls(&listener, &Arc::new(config)));
    (authority.pem(), port)
}

fn serve_tls(listener: &TcpListener, config: &Arc<ServerConfig>) {
    for stream in listener.incoming().map_while(Result::ok) {
        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let mut tls = StreamOwned::new(connection, stream);
        // A client that does not trust the certificate ends the handshake here.
        if tls.read(&mut [0; 4096]).is_ok() {
            let _ = tls.write_all(ok("over tls").as_bytes());
            let _ = tls.flush();
        }
    }
}

#[test]
fn tls_trusts_the_roots_of_the_system_and_nobody_else() {
    if act() {
        return;
    }
    let test = "tls_trusts_the_roots_of_the_system_and_nobody_else";
    let (authority, port) = tls_server();
    let (stranger, _) = tls_server();
    let directory = tempfile::tempdir().unwrap();
    let outcome_with = |name: &str, host: &str, pem: &str| {
        let file = directory.path().join(name);
        std::fs::write(&file, pem).unwrap();
        let environment = [
            ("SSL_CERT_FILE", file.to_str().unwrap()),
            ("SSL_CERT_DIR", ""),
        ];
        outcome(&run_again(
            test,
            &format!("https://{host}:{port}/"),
            &environment,
        ))
    };
    let refused = outcome_with("stranger.pem", "a.test", &stranger);
    assert!(
        refused.starts_with("Failed(") && refused.contains("certificate"),
        "{refused}"
    );
    // Only where the roots come from files does the variable have a meaning.
    if cfg!(target_os = "linux") {
        assert_eq!(outcome_with("own.pem", "a.test", &authority), "over tls");
    }
}

#[test]
fn tls_checks_the_name() {
    if act() {
        return;
    }
    let (authority, port) = tls_server();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("own.pem");
    std::fs::write(&file, authority).unwrap();
    let environment = [
        ("SSL_CERT_FILE", file.to_str().unwrap()),
        ("SSL_CERT_DIR", ""),
    ];
    let url = format!("https://127.0.0.1:{port}/");
    let refused = outcome(&run_again("tls_checks_the_name", &url, &environment));
    assert!(refused.starts_with("NotGranted("), "{refused}");
    let url = format!("https://b.a.test:{port}/");
    let refused = outcome(&run_again("tls_checks_the_name", &url, &environment));
    assert!(
        refused.starts_with("Failed(") && refused.contains("certificate"),
        "{refused}"
    );
}
