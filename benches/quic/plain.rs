//! A program that uses `quinn` as its documentation says, on an executor with one thread.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use repl_quic::Identity;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::cpu::thread_time;
use crate::{CLIENTS, Figures, JOINING, MEASURED, TICK};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The size of a client's answer, in bytes: about the size of a packet with acks.
const ANSWER_BYTES: usize = 30;

/// Measures a server that sends each client `each` datagrams of `bytes` bytes in a tick. A client answers
/// only the last of them.
pub(crate) fn measure(each: u32, bytes: usize) -> Result<Figures, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("repl-bench-quinn-{}", std::process::id()));
    Identity::development(&folder)?;
    let certificate = CertificateDer::from_pem_file(folder.join("certificate.pem"))?;
    let key = PrivateKeyDer::from_pem_file(folder.join("identity.pem"))?;
    std::fs::remove_dir_all(&folder)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)?;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(Arc::new(transport()));
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    client.transport_config(Arc::new(transport()));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cpu = runtime.block_on(async {
        let endpoint = Endpoint::server(config, ([127, 0, 0, 1], 0).into())?;
        let address = endpoint.local_addr()?;
        let crowd = thread::spawn(move || crowd(address, client, each));
        let cpu = serve(&endpoint, each, Bytes::from(vec![7; bytes])).await;
        endpoint.close(0_u32.into(), b"");
        endpoint.wait_idle().await;
        crowd.join().map_err(|_| "the clients have failed")??;
        cpu
    });
    let cpu = cpu.map_err(|error| error.to_string())?;
    Ok(Figures { cpu: cpu / MEASURED, datagrams: f64::from(each) * CLIENTS as f64, bytes: bytes as f64 })
}

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.enable_segmentation_offload(false);
    transport
}

async fn serve(endpoint: &Endpoint, each: u32, datagram: Bytes) -> Outcome<Duration> {
    let mut connections: Vec<Connection> = Vec::new();
    while connections.len() < CLIENTS {
        let connection = endpoint.accept().await.ok_or("the endpoint is closed")?.await?;
        connections.push(connection.clone());
        tokio::spawn(async move { while connection.read_datagram().await.is_ok() {} });
    }
    let mut ticks = tokio::time::interval(TICK);
    let mut start = Duration::ZERO;
    for tick in 0..JOINING + MEASURED {
        ticks.tick().await;
        if tick == JOINING {
            start = thread_time();
        }
        for connection in &connections {
            for _ in 0..each {
                connection.send_datagram(datagram.clone())?;
            }
        }
    }
    Ok(thread_time() - start)
}

/// Runs the clients until the server closes.
fn crowd(server: SocketAddr, config: ClientConfig, each: u32) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut guests = Vec::new();
        for _ in 0..CLIENTS {
            let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into())?;
            let connection = endpoint.connect_with(config.clone(), server, "localhost")?.await?;
            guests.push(tokio::spawn(async move {
                let mut heard = 0;
                while connection.read_datagram().await.is_ok() {
                    heard += 1;
                    if heard % each == 0 {
                        connection.send_datagram(Bytes::from_static(&[7; ANSWER_BYTES])).ok();
                    }
                }
                drop(endpoint);
            }));
        }
        for guest in guests {
            guest.await?;
        }
        Ok(())
    })
}
