//! Temporary: what clients with small packets cost the others.
use repl::CongestionControl;
use repl::prelude::*;
use std::time::Duration;

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
struct Unit {
    a: u32,
    b: u64,
    c: [u16; 4],
}

#[test]
fn measure() {
    let others: Vec<usize> =
        std::env::var("OTHERS").unwrap_or_default().split(',').filter_map(|s| s.parse().ok()).collect();
    let mut server =
        Server::new(ServerConfig { congestion_control: CongestionControl::Off, ..ServerConfig::default() });
    let units: Vec<_> = (0..1_000).map(|_| server.spawn(Unit::default())).collect();
    let mut guests = Vec::new();
    let mut now = Duration::from_millis(16);
    for n in 0..(40 + others.len()) {
        let mtu_bytes = if n < 40 { 1_200 } else { others[n - 40] };
        let mut client = Client::new(
            ClientConfig { mtu_bytes, ..ClientConfig::default() },
            Session::for_tests(n as u64 + 1),
        );
        client.register::<Unit>();
        guests.push((client, server.connect(now)));
    }
    for tick in 0..150_u64 {
        if tick > 50 {
            for (at, &unit) in units.iter().enumerate() {
                if (at as u64 + tick) % 3 == 0 {
                    let unit = &mut server[unit];
                    unit.a = tick as u32 * 7919;
                    unit.b = tick * 104_729;
                }
            }
        }
        for (client, id) in &mut guests {
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                server.receive(*id, now, packet);
            }
        }
        server.tick(now);
        for (client, id) in &mut guests {
            while let Some(packet) = server.poll_transmit(*id) {
                client.receive(now, packet).unwrap();
            }
        }
        now += Duration::from_millis(16);
    }
    let bytes = |range: std::ops::Range<usize>| -> (u64, u64) {
        let stats = guests[range].iter().map(|(_, id)| server.connection_info(*id).stats().unwrap());
        stats.fold((0, 0), |(b, p), s| (b + s.bytes_sent, p + s.packets_sent))
    };
    eprintln!("{others:?}: first 40 {:?}, others {:?}", bytes(0..40), bytes(40..guests.len()));
}
