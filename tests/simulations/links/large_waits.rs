//! The cost of large objects that wait: only a few of them are in flight to a client at the same time.
//!
//! *Invariant:* every value that is written is counted.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::LinkConditions;

use crate::counted::{Counted, take_written};
use crate::linked::Linked;

/// An object that is larger than a packet.
#[derive(Replicated, Default)]
struct Map {
    #[replicated]
    cells: Vec<Counted>,
}

const CELLS: usize = 600;

/// Returns how often each value of `maps` maps is written on average until a client that joins has all maps.
fn written_for_each_value(maps: usize) -> usize {
    let mut linked = Linked::new(Server::new(ServerConfig::default()), 1);
    let cells = vec![Counted(1); CELLS];
    (0..maps).for_each(|_| _ = linked.server.spawn(Map { cells: cells.clone() }));
    let link = LinkConditions { latency: Duration::from_millis(50), ..LinkConditions::perfect() };
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register::<Map>();
    linked.connect(client, link, link);
    take_written();
    while linked.guests[0].client.objects::<Map>().count() < maps {
        linked.tick();
    }
    take_written() / (maps * CELLS)
}

#[test]
fn large_objects_that_wait_are_not_written_in_each_tick() {
    let [few, many] = [20, 200].map(written_for_each_value);
    assert!(many <= 2 * few.max(4), "{few} times each, and {many} times if there are ten times as many");
}
