//! Messages of many megabytes: the server stores one copy for all clients, and a client stores the received
//! parts.
//!
//! *Invariant:* the allocator counts what each side allocates and frees in its own calls.

use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, MessageOptions};

use crate::allocator::{held as allocated, measure};

const TICK: Duration = Duration::from_millis(16);
const LEVELS: MessageOptions = MessageOptions { max_bytes: 16 << 20, ..MessageOptions::DEFAULT };
const BYTES: usize = (16 << 20) - 8;
/// The memory that connections and packets need besides the messages.
const BESIDE: usize = 1 << 20;

#[derive(NetSerialize, Clone)]
struct Level(#[replicated(max_len = 16777216)] Vec<u8>);

/// A server with clients. All packets arrive, except one of every `loss` packets.
struct Meeting {
    server: Server,
    clients: Vec<(Client, ConnectionId)>,
    now: Duration,
    packets: u32,
    loss: u32,
    /// How many bytes the clients have allocated and not freed, and the most so far.
    held: isize,
    most: usize,
}

impl Meeting {
    fn new(clients: usize) -> Self {
        let mut server = Server::new(ServerConfig::default());
        server.register_message_with::<Level>(Channel::Ordered, LEVELS);
        let clients = (0..clients).map(|number| {
            let mut client = Client::new(ClientConfig::default(), Session::for_tests(1 + number as u64));
            client.register_message_with::<Level>(Channel::Ordered, LEVELS);
            (client, server.connect(Duration::ZERO))
        });
        let clients = clients.collect();
        let mut meeting = Self { server, clients, now: TICK, packets: 0, loss: u32::MAX, held: 0, most: 0 };
        (0..30).for_each(|_| meeting.tick());
        (meeting.held, meeting.loss, meeting.most) = (0, 20, 0);
        meeting
    }

    fn tick(&mut self) {
        self.now += TICK;
        let Self { server, clients, now, packets, loss, held, most } = self;
        let mut is_lost = || {
            *packets += 1;
            packets.is_multiple_of(*loss)
        };
        server.tick(*now);
        for (client, id) in clients {
            while let Some(packet) = server.poll_transmit(*id).map(<[u8]>::to_vec) {
                if !is_lost() {
                    let before = (*held).max(0) as usize;
                    let ((), more) = measure(|| counted(held, || client.receive(*now, &packet).unwrap()));
                    *most = (*most).max(before + more);
                }
            }
            counted(held, || client.tick(*now));
            while let Some(packet) = client.poll_transmit() {
                if !is_lost() {
                    server.receive(*id, *now, packet);
                }
            }
        }
    }
}

/// Adds the bytes that `work` allocates and does not free.
fn counted<T>(sum: &mut isize, work: impl FnOnce() -> T) -> T {
    let before = allocated();
    let result = work();
    *sum += allocated() - before;
    result
}

#[test]
fn a_server_stores_one_copy_of_a_level_for_all_clients() {
    let mut meeting = Meeting::new(8);
    let level = Level(vec![7; BYTES]);
    let before = allocated();
    let (full, most) = measure(|| meeting.server.send_to_all(&level).unwrap());
    let stored = (allocated() - before) as usize;
    assert_eq!(full, []);
    assert!((BYTES..BYTES + 100_000).contains(&stored), "{stored} bytes are stored");
    assert!(most <= 2 * BYTES + BESIDE, "{most} bytes while it is written");
    let full = meeting.server.send_to_all(&level).unwrap();
    assert_eq!(full.len(), 8, "one level fills the limit of its type");
}

#[test]
fn a_client_stores_what_has_arrived_of_a_level_and_no_more_than_its_type_allows() {
    let mut meeting = Meeting::new(1);
    let level = Level((0..BYTES).map(|at| (at * at) as u8).collect());
    meeting.server.send_to_all(&level).unwrap();
    let mut arrived = 0;
    loop {
        meeting.tick();
        let progress = meeting.clients[0].0.connection_info().message_progress::<Level>().receiving;
        let Some(progress) = progress else {
            if arrived == 0 {
                continue;
            }
            break;
        };
        assert!(progress.done_bytes >= arrived && progress.total_bytes > BYTES);
        arrived = progress.done_bytes;
        let most = arrived / 8 * 9 + BESIDE;
        assert!(meeting.held <= most as isize, "{} bytes for {arrived}", meeting.held);
    }
    assert!(arrived > BYTES / 10 * 9, "{arrived}");
    // While the value is decoded, its encoded bytes still exist.
    assert!(meeting.most <= 2 * BYTES + BESIDE, "{} bytes", meeting.most);
    let Meeting { clients, held, .. } = &mut meeting;
    let (client, id) = &mut clients[0];
    let is_equal = || client.poll_message::<Level>().is_some_and(|Level(bytes)| bytes == level.0);
    assert!(counted(held, is_equal));
    let id = *id;
    (0..600).for_each(|_| meeting.tick());
    assert_eq!(meeting.server.connection_info(id).message_progress::<Level>().sending, None);
    assert!(meeting.held < BESIDE as isize, "{} bytes are left on the client", meeting.held);
}
