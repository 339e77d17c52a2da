//! The server over QUIC, with a socket for each client.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use repl::prelude::*;
use repl_quic::{CertificateHash, Identity, QuicClient, QuicConfig, QuicServer, Trust};

use crate::cpu::thread_time;
use crate::world::{self, World};
use crate::{CLIENTS, Figures, JOINING, MEASURED, TICK};

/// The server's tick is divided into this number of slices. In each slice, another part of the clients ticks.
const SLICES: usize = 10;

/// Measures the server of `repl`.
pub(crate) fn measure() -> Result<Figures, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("repl-bench-{}", std::process::id()));
    let identity = Identity::development(&folder)?;
    let limits = QuicConfig {
        max_clients: CLIENTS,
        max_per_origin: CLIENTS,
        max_handshakes: 32 * CLIENTS,
        ..QuicConfig::default()
    };
    let mut quic = QuicServer::bind(([127, 0, 0, 1], 0).into(), &identity, limits)?;
    let (address, hash, ends) = (quic.local_address()?, identity.hash(), Arc::new(AtomicBool::new(false)));
    let end = Arc::clone(&ends);
    let crowd = thread::spawn(move || crowd(address, hash, &end));
    let mut server = Server::new(ServerConfig::default());
    let mut world = World::new(&mut server);
    let (start, mut cpu, mut before) = (Instant::now(), Duration::ZERO, (0, 0));
    for tick in 0..JOINING + MEASURED {
        thread::sleep((TICK * tick).saturating_sub(start.elapsed()));
        if tick == JOINING {
            (cpu, before) = (Duration::ZERO, sent(&server));
        }
        let (now, busy) = (start.elapsed(), thread_time());
        quic.receive(&mut server, now)?;
        while server.poll_event().is_some() {}
        world.step(&mut server);
        server.tick(now);
        quic.transmit(&mut server, now)?;
        cpu += thread_time() - busy;
    }
    let ((packets, bytes), clients) = (sent(&server), quic.clients());
    ends.store(true, Ordering::Relaxed);
    crowd.join().map_err(|_| "the clients have failed")??;
    std::fs::remove_dir_all(folder)?;
    if clients != CLIENTS {
        return Err(format!("{clients} clients were there").into());
    }
    let packets = packets - before.0;
    Ok(Figures {
        cpu: cpu / MEASURED,
        datagrams: packets as f64 / f64::from(MEASURED),
        bytes: (bytes - before.1) as f64 / packets as f64,
    })
}

/// Returns how many packets and bytes were sent to all clients together until now.
fn sent(server: &Server) -> (u64, u64) {
    let stats = server.connections().filter_map(|id| server.connection_info(id).stats());
    stats.fold((0, 0), |(packets, bytes), stats| (packets + stats.packets_sent, bytes + stats.bytes_sent))
}

/// Runs the clients until the server has finished.
fn crowd(
    server: std::net::SocketAddr,
    hash: CertificateHash,
    ends: &AtomicBool,
) -> Result<(), std::io::Error> {
    let trust = Trust::pinned([hash]);
    let guests = (0..CLIENTS).map(|number| Ok((world::client(number), QuicClient::new(server, &trust)?)));
    let mut guests: Vec<_> = guests.collect::<std::io::Result<_>>()?;
    let (start, slice) = (Instant::now(), TICK / SLICES as u32);
    let mut count = 0;
    while !ends.load(Ordering::Relaxed) {
        thread::sleep((slice * count).saturating_sub(start.elapsed()));
        let now = start.elapsed();
        for (client, quic) in guests.iter_mut().skip(count as usize % SLICES).step_by(SLICES) {
            quic.receive(client, now)?;
            while client.poll_event().is_some() {}
            client.tick(now);
            quic.transmit(client, now)?;
        }
        count += 1;
    }
    Ok(())
}
