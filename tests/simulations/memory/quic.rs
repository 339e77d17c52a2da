//! Encrypted clients that join and leave: afterwards the server has no memory of theirs any more.

use std::time::Duration;

use repl::prelude::*;
use repl_quic::{Identity, QuicClient, QuicConfig, QuicServer, Trust};

use crate::allocator::held;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Crate {
    weight: u32,
}

/// A server over a real socket, with a simulated clock.
struct Harbour {
    quic: QuicServer,
    server: Server,
    trust: Trust,
    now: Duration,
    seed: u64,
}

impl Harbour {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("repl-memory-{}", std::process::id()));
        let identity = Identity::development(&folder).expect("the folder can be written");
        std::fs::remove_dir_all(folder).expect("it was made");
        let address = "127.0.0.1:0".parse().expect("an address");
        let quic = QuicServer::bind(address, &identity, QuicConfig::default()).expect("a port is free");
        let mut server = Server::new(ServerConfig::default());
        (0..20).for_each(|weight| _ = server.spawn(Crate { weight }));
        Self { quic, server, trust: Trust::pinned([identity.hash()]), now: Duration::ZERO, seed: 0 }
    }

    fn tick(&mut self) {
        self.now += Duration::from_millis(10);
        self.quic.receive(&mut self.server, self.now).expect("the socket works");
        while self.server.poll_event().is_some() {}
        self.server.tick(self.now);
        self.quic.transmit(&mut self.server, self.now).expect("the socket works");
    }

    /// A client joins, gets all objects, and leaves, with or without a disconnect packet.
    fn visit(&mut self, says_goodbye: bool) {
        let address = self.quic.local_address().expect("it is bound");
        let mut quic = QuicClient::new(address, &self.trust).expect("a port is free");
        self.seed += 1;
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(self.seed));
        client.register::<Crate>();
        let mut frame = |harbour: &mut Self, client: &mut Client| {
            quic.receive(client, harbour.now).expect("the socket works");
            client.tick(harbour.now);
            quic.transmit(client, harbour.now).expect("the socket works");
            harbour.tick();
        };
        while client.objects::<Crate>().count() < 20 {
            frame(self, &mut client);
        }
        if says_goodbye {
            client.disconnect();
            (0..3).for_each(|_| frame(self, &mut client));
        }
    }

    /// Waits until the sessions of all clients that left have ended.
    fn rest(&mut self) {
        (0..4_000).for_each(|_| self.tick());
        assert_eq!((self.quic.clients(), self.quic.connections()), (0, 0));
    }
}

#[test]
fn a_thousand_clients_that_come_and_go_leave_nothing_behind() {
    let mut harbour = Harbour::new();
    // A host may have at most 256 clients, so the sessions of clients that left without a disconnect packet
    // must have ended.
    let mut visits = |count: usize| {
        for visit in 0..count {
            harbour.visit(visit % 2 == 0);
            if visit % 100 == 99 {
                harbour.rest();
            }
        }
        harbour.quic.counters().accepted
    };
    // Lists and tables grow to their final size at random moments.
    visits(300);
    let before = held();
    let accepted = visits(1_000);
    let grown = held() - before;
    assert!(grown < 40_000, "{grown} bytes are left: more than two connections take");
    assert_eq!(accepted, 1_300);
}
