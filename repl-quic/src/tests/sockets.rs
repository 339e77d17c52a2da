//! Real sockets of this machine.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use quinn_proto::Transmit;
use repl_link::plain::{MessageClient, MessageServer};
use repl_link::{Channel, ClientTerms, ServerSettings, Session};

use super::lan::identity;
use crate::native::wire::{Received, UdpWire, Wire};
use crate::{QuicClient, QuicConfig, QuicServer, Trust};

/// Returns the time that a client needed to connect to a server that listens on the address `listens`, and to
/// send it a message. Returns `None` if the machine has no such address.
fn visit(listens: &str, host: &str) -> Option<Duration> {
    let identity = identity();
    let listens = listens.parse().expect("an address");
    let mut server_quic = QuicServer::bind(listens, &identity, QuicConfig::default()).ok()?;
    let port = server_quic.local_address().expect("it is bound").port();
    let address = SocketAddr::new(host.parse().expect("a host"), port);
    let mut client_quic = QuicClient::new(address, &Trust::pinned([identity.hash()])).ok()?;
    let mut server = MessageServer::new(ServerSettings::default());
    server.register::<Vec<u8>>(Channel::Ordered);
    let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(1));
    client.register::<Vec<u8>>(Channel::Ordered);
    let (start, mut sent) = (Instant::now(), 0_u8);
    loop {
        let now = start.elapsed();
        server_quic.receive(&mut server, now).expect("the socket works");
        while let Some((id, message)) = server.poll::<Vec<u8>>() {
            assert_eq!(message.len(), 2_000);
            assert_eq!(
                server_quic.address(id).map(|from| from.port()),
                client_quic.local_address().ok().map(|own| own.port())
            );
            if message[0] == 19 {
                return Some(now);
            }
        }
        server.tick(now);
        server_quic.transmit(&mut server, now).expect("the socket works");
        client_quic.receive(&mut client, now).expect("the socket works");
        if client.is_connected() && sent < 20 {
            client.send(&vec![sent; 2_000]).expect("there is room");
            sent += 1;
        }
        client.tick(now);
        client_quic.transmit(&mut client, now).expect("the socket works");
        assert!(now < Duration::from_secs(10), "{:?}", client.take_end());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn clients_connect_over_both_families_of_addresses() {
    let took = visit("127.0.0.1:0", "127.0.0.1").expect("each machine has it");
    assert!(took < Duration::from_secs(2), "{took:?}");
    if UdpSocket::bind("[::1]:0").is_ok() {
        assert!(visit("[::1]:0", "::1").is_some());
        assert!(visit("[::]:0", "127.0.0.1").is_some(), "a socket for both families");
    }
}

#[test]
fn all_that_has_arrived_is_received_before_a_wire_says_that_it_has_no_more() {
    for many in [false, true] {
        let mut wire = UdpWire::bind(([127, 0, 0, 1], 0).into(), many).expect("a port");
        let peer = UdpSocket::bind("127.0.0.1:0").expect("a port");
        peer.connect(wire.local_address().expect("it is bound")).expect("it is there");
        (1..=100).for_each(|bytes| assert_eq!(peer.send(&[7; 200][..bytes]).ok(), Some(bytes)));
        let mut sizes = Vec::new();
        while wire.receive(&mut |datagram| sizes.push(datagram.bytes.len())).expect("it works") {}
        assert!(sizes.into_iter().eq(1..=100), "many: {many}");
    }
}

/// A wire that always says that there may be more datagrams, and returns only empty datagrams.
struct Empty {
    asked: u32,
}

impl Wire for Empty {
    fn receive(&mut self, _: &mut dyn FnMut(&Received<'_>)) -> io::Result<bool> {
        self.asked += 1;
        assert!(self.asked < 100_000, "the loop of the game stands still");
        Ok(true)
    }

    fn send(&mut self, _: &Transmit, _: &[u8]) -> io::Result<bool> {
        Ok(true)
    }

    fn most_segments(&self) -> usize {
        1
    }

    fn keeps_whole(&self) -> bool {
        true
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr::from(([127, 0, 0, 1], 7_777)))
    }
}

#[test]
fn a_flood_without_content_keeps_the_loop_busy_for_a_bounded_time() {
    let quic = QuicServer::over(Box::new(Empty { asked: 0 }), &identity(), QuicConfig::default());
    let mut server = MessageServer::new(ServerSettings::default());
    quic.expect("the identity is good").receive(&mut server, Duration::ZERO).expect("the wire works");
}
