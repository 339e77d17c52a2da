//! The server without sockets: packets are passed to the clients in memory.

use std::time::Duration;

use repl::prelude::*;
use repl::{Endpoint, EndpointConfig};

use crate::cpu::thread_time;
use crate::world::{self, World};
use crate::{CLIENTS, Figures, JOINING, MEASURED, TICK};

/// Measures the replication alone.
pub(crate) fn measure() -> Figures {
    let mut server = Server::new(ServerConfig::default());
    let mut world = World::new(&mut server);
    let mut endpoint = Endpoint::<u16>::new(EndpointConfig::default(), 1);
    let mut clients: Vec<_> = (0..CLIENTS).map(world::client).collect();
    let (mut cpu, mut datagrams, mut bytes) = (Duration::ZERO, 0_u64, 0);
    let mut out: Vec<(u16, Vec<u8>)> = Vec::new();
    for tick in 0..JOINING + MEASURED {
        let (now, mut back) = (TICK * tick, Vec::new());
        for (to, packet) in out.drain(..) {
            clients[usize::from(to)].receive(now, &packet).expect("nothing is damaged on the way");
        }
        for (number, client) in (0..).zip(&mut clients) {
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                back.push((number, packet.to_vec()));
            }
        }
        let start = thread_time();
        for (from, packet) in &back {
            endpoint.receive(&mut server, now, *from, packet);
        }
        while server.poll_event().is_some() {}
        world.step(&mut server);
        server.tick(now);
        while let Some((to, packet)) = endpoint.poll_transmit(&mut server) {
            out.push((to, packet.to_vec()));
        }
        if tick >= JOINING {
            cpu += thread_time() - start;
            datagrams += out.len() as u64;
            bytes += out.iter().map(|(_, packet)| packet.len()).sum::<usize>();
        }
    }
    Figures {
        cpu: cpu / MEASURED,
        datagrams: datagrams as f64 / f64::from(MEASURED),
        bytes: bytes as f64 / datagrams as f64,
    }
}
