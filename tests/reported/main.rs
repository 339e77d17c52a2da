//! Bugs that users of other libraries reported, one file for each behaviour. The first line of each file
//! names the reports. The tests check the behaviour that these users expected.

#[path = "../support/mod.rs"]
mod support;

mod calls_to_gone_objects;
mod changed_in_sleep;
mod hidden_and_shown;
mod hierarchies;
mod large_values;
mod last_states;
mod notifies_of_references;
mod old_servers;
mod quantised_at_rest;
mod slots_used_again;
mod spawned_between_updates;
mod synchronized;

use support::Room;

/// Runs one tick of everyone. The arguments say in which directions all packets of this tick are lost.
fn step_losing(room: &mut Room, loses_down: bool, loses_up: bool) {
    for guest in 0..room.guests.len() {
        let packets = room.replies(guest);
        if !loses_up {
            room.hear(guest, &packets);
        }
    }
    for (guest, packets) in room.tick().into_iter().enumerate() {
        if !loses_down {
            room.deliver(guest, &packets);
        }
    }
}

/// Returns the events of a client that were not polled yet.
fn events(room: &mut Room, guest: usize) -> Vec<repl::ClientEvent> {
    std::iter::from_fn(|| room.guests[guest].client.poll_event()).collect()
}
