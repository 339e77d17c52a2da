//! Tests with another implementation of QUIC: such peers are served or refused as the standards require.
//!
//! *Invariant:* the other side is the crate `quinn`, with its own sockets and executor.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, TransportConfig};
use repl_link::plain::{MessageClient, MessageServer};
use repl_link::{ClientTerms, DisconnectReason, ServerSettings, Session};
use repl_quic::{Identity, QuicClient, QuicConfig, QuicCounters, QuicServer, Trust};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

type Outcome = Result<(), Box<dyn Error>>;

/// A server of this crate, on its own thread.
struct Ours {
    address: std::net::SocketAddr,
    certificate: CertificateDer<'static>,
    ends: Arc<AtomicBool>,
    thread: JoinHandle<QuicCounters>,
}

impl Ours {
    fn start(name: &str) -> Result<Self, Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("repl-peer-{}-{name}", std::process::id()));
        let identity = Identity::development(&folder)?;
        let certificate = CertificateDer::from_pem_file(folder.join("certificate.pem"))?;
        std::fs::remove_dir_all(folder)?;
        let config = QuicConfig { handshake_timeout: Duration::from_secs(1), ..QuicConfig::default() };
        let mut quic = QuicServer::bind("127.0.0.1:0".parse()?, &identity, config)?;
        let (address, ends) = (quic.local_address()?, Arc::new(AtomicBool::new(false)));
        let end = Arc::clone(&ends);
        let thread = thread::spawn(move || {
            let mut settings = ServerSettings::default();
            settings.terms.timeout = Duration::from_secs(2);
            let (mut server, start) = (MessageServer::new(settings), Instant::now());
            while !end.load(Ordering::Relaxed) {
                let now = start.elapsed();
                quic.receive(&mut server, now).expect("the socket works");
                while server.poll_event().is_some() {}
                server.tick(now);
                quic.transmit(&mut server, now).expect("the socket works");
                thread::sleep(Duration::from_millis(2));
            }
            quic.counters()
        });
        Ok(Self { address, certificate, ends, thread })
    }

    /// Lets a `quinn` client with the protocol `protocol` connect, and returns the counters of the server.
    fn meet(
        self,
        protocol: Option<&[u8]>,
        transport: TransportConfig,
        visit: impl AsyncFnOnce(Result<Connection, ConnectionError>) -> Outcome,
    ) -> Result<QuicCounters, Box<dyn Error>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        config.transport_config(Arc::new(transport));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome: Outcome = runtime.block_on(async {
            let endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
            let connection = endpoint.connect_with(config, self.address, "localhost")?.await;
            visit(connection).await?;
            endpoint.close(0_u32.into(), b"");
            endpoint.wait_idle().await;
            Ok(())
        });
        self.ends.store(true, Ordering::Relaxed);
        outcome.and_then(|()| self.thread.join().map_err(|_| "the server has panicked".into()))
    }
}

/// Returns the time in seconds until a server closes the connection of a peer that begins no session.
async fn time_until_let_go(peer: Connection, packet: Option<&'static [u8]>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    packet.map(|packet| peer.send_datagram(packet.into())).transpose()?;
    let reason = tokio::time::timeout(Duration::from_secs(10), peer.closed()).await?;
    assert!(matches!(reason, ConnectionError::ApplicationClosed(_)), "{reason}");
    Ok(start.elapsed().as_secs_f64())
}

#[test]
fn a_peer_that_speaks_the_protocol_is_served_and_can_open_no_stream() -> Outcome {
    let counters =
        Ours::start("served")?.meet(Some(b"repl/1"), TransportConfig::default(), async |peer| {
            let peer = peer?;
            assert!(peer.max_datagram_size() >= Some(1_162), "{:?}", peer.max_datagram_size());
            let soon = Duration::from_millis(200);
            assert!(tokio::time::timeout(soon, peer.open_uni()).await.is_err(), "there are no streams");
            assert!(tokio::time::timeout(soon, peer.open_bi()).await.is_err(), "there are no streams");
            let secs = time_until_let_go(peer, Some(&[0; 100])).await?;
            assert!((1.5..5.0).contains(&secs), "silence of 2 s, and a second to hear why: {secs}");
            Ok(())
        })?;
    assert_eq!((counters.accepted, counters.failed_handshakes), (1, 0));
    Ok(())
}

#[test]
fn a_peer_that_sends_nothing_is_let_go_after_the_time_of_a_handshake() -> Outcome {
    let counters =
        Ours::start("silent")?.meet(Some(b"repl/1"), TransportConfig::default(), async |peer| {
            let secs = time_until_let_go(peer?, None).await?;
            assert!(secs < 1.5, "{secs}");
            Ok(())
        })?;
    assert_eq!((counters.accepted, counters.failed_handshakes), (0, 1));
    Ok(())
}

#[test]
fn a_peer_with_another_protocol_is_refused_in_the_handshake() -> Outcome {
    for protocol in [Some(&b"h3"[..]), None] {
        let ours = Ours::start(if protocol.is_some() { "other" } else { "none" })?;
        let counters = ours.meet(protocol, TransportConfig::default(), async |peer| {
            let Err(ConnectionError::ConnectionClosed(close)) = peer else {
                return Err(format!("{protocol:?}: {peer:?}").into());
            };
            // The alert `no_application_protocol` (RFC 7301), as a QUIC error code (RFC 9001).
            assert_eq!(u64::from(close.error_code), 0x178);
            Ok(())
        })?;
        assert_eq!((counters.accepted, counters.failed_handshakes), (0, 1));
    }
    Ok(())
}

#[test]
fn a_peer_that_takes_no_datagrams_is_told_so() -> Outcome {
    let mut transport = TransportConfig::default();
    transport.datagram_receive_buffer_size(None);
    let counters = Ours::start("streams")?.meet(Some(b"repl/1"), transport, async |peer| {
        let reason = tokio::time::timeout(Duration::from_secs(5), peer?.closed()).await?;
        let ConnectionError::ApplicationClosed(close) = reason else { return Err(reason.into()) };
        assert!(String::from_utf8_lossy(&close.reason).contains("datagrams"), "{close}");
        Ok(())
    })?;
    assert_eq!((counters.accepted, counters.strangers), (0, 1));
    Ok(())
}

#[test]
fn a_client_of_ours_hears_that_a_server_speaks_another_protocol() -> Outcome {
    let folder = std::env::temp_dir().join(format!("repl-peer-{}-theirs", std::process::id()));
    let identity = Identity::development(&folder)?;
    let chain = vec![CertificateDer::from_pem_file(folder.join("certificate.pem"))?];
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(folder.join("identity.pem"))?;
    std::fs::remove_dir_all(folder)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let config = quinn::crypto::rustls::QuicServerConfig::try_from(tls)?;
    let config = quinn::ServerConfig::with_crypto(Arc::new(config));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let reason = runtime.block_on(async {
        let endpoint = Endpoint::server(config, "127.0.0.1:0".parse()?)?;
        let trust = Trust::pinned([identity.hash()]);
        let mut quic = QuicClient::new(endpoint.local_addr()?, &trust)?;
        let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(1));
        let start = Instant::now();
        tokio::spawn(async move {
            while let Some(incoming) = endpoint.accept().await {
                incoming.await.err();
            }
        });
        while start.elapsed() < Duration::from_secs(5) {
            let now = start.elapsed();
            quic.receive(&mut client, now)?;
            client.tick(now);
            // The client ignores the first refusals, because anyone on the path could have forged them.
            if let Some(reason) = client.take_end().filter(|reason| *reason != DisconnectReason::Timeout) {
                return Ok::<_, Box<dyn Error>>(Some(reason));
            }
            quic.transmit(&mut client, now)?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(None)
    })?;
    let Some(DisconnectReason::Transport(why)) = reason else { return Err(format!("{reason:?}").into()) };
    assert!(why.contains("another protocol"), "{why}");
    Ok(())
}
