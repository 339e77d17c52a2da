//! Objects that are larger than a packet: only a few of them are in flight to a client at the same time, and
//! they take turns.

use std::time::Duration;

use repl::CongestionControl;
use repl::prelude::*;
use repl::sim::LinkConditions;

use crate::linked::{HZ, Linked};

/// An object that needs two packets.
#[derive(Replicated, Default)]
struct Banner {
    #[replicated]
    text: String,
}

const BYTES: usize = 1_500;

/// Some banners of `bytes` bytes change in each tick. Returns the number of ticks until a client has the
/// change of another banner of two packets. If `is_new` is true, this banner is spawned instead of changed.
fn wait_of_another(
    (banners, bytes): (usize, usize),
    congestion_control: CongestionControl,
    budget: usize,
    is_new: bool,
) -> Option<u32> {
    let config = ServerConfig { congestion_control, ..ServerConfig::default() };
    let mut linked = Linked::new(Server::new(config), 1);
    let text = |tick: u32, bytes: usize| format!("{tick:0bytes$}");
    let banners: Vec<_> = (0..banners).map(|_| linked.server.spawn(Banner::default())).collect();
    let mut last = linked.server.spawn(Banner::default());
    let link = LinkConditions { latency: Duration::from_millis(5), ..LinkConditions::perfect() };
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register::<Banner>();
    linked.connect(client, link, link);
    (0..HZ).for_each(|_| linked.tick());
    linked.server.connection(linked.guests[0].id).set_budget(budget);
    for tick in 0..20 * HZ {
        banners.iter().for_each(|&banner| linked.server[banner].text = text(tick, bytes));
        if tick == HZ {
            if is_new {
                last = linked.server.spawn(Banner::default());
            }
            linked.server[last].text = text(0, BYTES);
        }
        linked.tick();
        let have = linked.guests[0].client.get(last);
        if tick >= HZ && have.is_some_and(|have| have.text == text(0, BYTES)) {
            return Some(tick - HZ);
        }
    }
    None
}

#[test]
fn s193_large_objects_take_turns_whatever_the_budget_is() {
    for is_new in [false, true] {
        for congestion_control in [CongestionControl::Off, CongestionControl::default()] {
            // The budgets are: less than the banners need, four times as much as they need, and no limit.
            for budget in [400_000, 4_000_000, usize::MAX] {
                let wait = wait_of_another((10, BYTES), congestion_control, budget, is_new);
                assert!(wait.is_some_and(|ticks| ticks <= 30), "{wait:?}, budget {budget}, new: {is_new}");
            }
        }
    }
}

#[test]
fn s193_a_large_object_has_its_turn_while_small_changes_exhaust_the_budget() {
    for is_new in [false, true] {
        for budget in [20_000, 60_000] {
            let wait = wait_of_another((400, 10), CongestionControl::Off, budget, is_new);
            assert!(wait.is_some_and(|ticks| ticks <= 120), "{wait:?}, budget {budget}, new: {is_new}");
        }
    }
}
