//! The planned events of a run: what happens to clients and the server, and when.
//!
//! *Invariant:* a client starts only at a free place, or it replaces the client of the place.

use std::time::Duration;

use repl::sim::Rng;

/// The number of a place. Each place has an address of its own.
pub(super) type Place = u32;

/// An event that happens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A client starts at a place. With `same_session` it uses the session of the last client of the place,
    /// if possible. If the place has a client, that client vanishes without a disconnect packet.
    Start { place: Place, same_session: bool },
    /// The client of a place vanishes without a disconnect packet.
    Vanish { place: Place },
    /// The client of a place gets the address of another place. If the other place has a client, the two
    /// exchange their addresses.
    Move { from: Place, to: Place },
    /// The client of a place disconnects.
    Leave { place: Place },
    /// The server is started again.
    Restart,
    /// All packets from or to a place are lost for a while.
    Blackout { place: Place, is_up: bool, lasts: Duration },
}

/// Chooses the acts of a run with this many places at random. The clients of all places start in the first
/// third of the time.
pub(super) fn draw(rng: &mut Rng, places: u32, span: Duration) -> Vec<(Duration, Act)> {
    let mut acts: Vec<(Duration, Act)> = (1..=places)
        .map(|place| (rng.duration(span / 3), Act::Start { place, same_session: false }))
        .collect();
    let mut is_taken = vec![true; places as usize];
    // One more place, to which clients may move.
    is_taken.push(false);
    let mut times: Vec<Duration> = (0..rng.below(9)).map(|_| span / 3 + rng.duration(span * 2 / 3)).collect();
    times.sort();
    for at in times {
        let place = rng.range(1..u64::from(places) + 2) as Place;
        let act = match (is_taken[place as usize - 1], rng.below(12)) {
            (false, _) => {
                is_taken[place as usize - 1] = true;
                Act::Start { place, same_session: rng.chance(0.5) }
            }
            (true, 0..2) => Act::Start { place, same_session: false },
            (true, 2..4) => {
                acts.push((at, Act::Vanish { place }));
                let again = at + rng.duration(span / 4);
                acts.push((again, Act::Start { place, same_session: rng.chance(0.7) }));
                continue;
            }
            (true, 4..7) => {
                let to = rng.range(1..u64::from(places) + 2) as Place;
                is_taken.swap(place as usize - 1, to as usize - 1);
                Act::Move { from: place, to }
            }
            (true, 7..9) => {
                is_taken[place as usize - 1] = false;
                Act::Leave { place }
            }
            (true, 9) => Act::Restart,
            (true, _) => {
                let lasts = rng.duration(span / 4);
                Act::Blackout { place, is_up: rng.chance(0.5), lasts }
            }
        };
        acts.push((at, act));
    }
    acts.sort_by_key(|(at, _)| *at);
    acts
}
