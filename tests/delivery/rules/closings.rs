//! R17 with tens of thousands of unacked closings: how much the server sends after losses and late acks.
//! `cargo bench --bench ends` measures the times.
//!
//! *Invariant:* exactly the lost closings are sent again.

use repl::ServerConfig;

use crate::ends::{End, Link, end_all};

#[test]
fn r17_losses_and_late_acks_of_ends_cost_what_was_lost_whatever_is_outstanding() {
    const COUNT: usize = 60_000;
    for end in [End::Despawn, End::Hide] {
        let bytes = |link| {
            end_all(COUNT, end, link, |room, acks| {
                room.hear(0, acks);
                room.server.tick(room.now);
            })
        };
        let once = bytes(Link::Good);
        // For each kind of link, the greatest number of bytes: one packet more than `once`, half as much
        // again, or all closings again at each timeout in a second of silence. A room has no rate limit.
        for (link, most) in [
            (Link::LosesOne, once + 2 * ServerConfig::default().mtu_bytes),
            (Link::LosesMany, once * 8 / 5),
            (Link::HoldsAcks, once * 28),
            (Link::Dead, once * 28),
        ] {
            let bytes = bytes(link);
            assert!(bytes <= most, "{end:?} {link:?}: {bytes} bytes, {once} if nothing is lost");
        }
    }
}
