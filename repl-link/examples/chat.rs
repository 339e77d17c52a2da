//! A chat over UDP, without objects: three clients each send a line, and every client receives all three
//! lines.
//!
//! `cargo run --release -p repl-link --example chat`
#![expect(clippy::print_stdout, reason = "an example")]

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use repl_link::plain::{MessageClient, MessageServer};
use repl_link::{Channel, ClientTerms, Endpoint, EndpointConfig, ServerSettings, Session};

const LINES: [&str; 3] = ["who is there?", "the two of us", "and a third"];

fn socket() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn random() -> [u8; 16] {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the operating system has random numbers");
    bits
}

fn main() -> io::Result<()> {
    let mut server = MessageServer::new(ServerSettings::default());
    server.register::<String>(Channel::Ordered);
    let mut endpoint = Endpoint::<SocketAddr>::new(EndpointConfig::default(), u128::from_le_bytes(random()));
    let (at, mut heard) = (socket()?, 0);
    let mut clients = Vec::new();
    for line in LINES {
        let mut client = MessageClient::new(ClientTerms::default(), Session::from_random(random()));
        client.register::<String>(Channel::Ordered);
        clients.push((client, socket()?, Some(line)));
    }
    let (start, mut buffer) = (Instant::now(), [0; 1_500]);
    while heard < LINES.len() * LINES.len() && start.elapsed() < Duration::from_secs(20) {
        for (client, socket, line) in &mut clients {
            while let Ok(bytes) = socket.recv(&mut buffer) {
                client.receive(start.elapsed(), &buffer[..bytes]).ok();
            }
            *line = line.take().filter(|line| client.send(&line.to_string()).is_err());
            client.tick(start.elapsed());
            while let Some(packet) = client.poll_transmit() {
                socket.send_to(packet, at.local_addr()?)?;
            }
            heard +=
                std::iter::from_fn(|| client.poll::<String>()).inspect(|line| println!("{line}")).count();
        }
        while let Ok((bytes, from)) = at.recv_from(&mut buffer) {
            endpoint.receive(&mut server, start.elapsed(), from, &buffer[..bytes]);
        }
        server.tick(start.elapsed());
        while let Some((from, line)) = server.poll::<String>() {
            server.send_to_all(&format!("{from:?}: {line}")).expect("few messages wait");
        }
        while let Some((to, packet)) = endpoint.poll_transmit(&mut server) {
            at.send_to(packet, to)?;
        }
        sleep(Duration::from_millis(10));
    }
    Ok(())
}
