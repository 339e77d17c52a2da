//! How much memory a client needs for objects that its user has borrowed mutably: a copy of each object. The
//! copy of an object without arrays is dropped when an update removes the last edit of the user.
//!
//! *Invariant:* an object that nobody borrows needs no more memory than before.

use repl::prelude::*;

use crate::allocator::held;
use crate::support::Room;

/// A power of two, so that growing lists have no room to spare.
const BODIES: u32 = 1_024;

#[derive(Default, Replicated)]
struct Body {
    #[replicated]
    id: u32,
    #[replicated]
    position: [f32; 3],
    #[replicated]
    velocity: [f32; 3],
    mesh: u32,
}

/// Returns how many more bytes each object occupies after `work`.
fn growth(room: &mut Room, work: impl FnOnce(&mut Room)) -> f64 {
    let before = held();
    work(room);
    (held() - before) as f64 / f64::from(BODIES)
}

#[test]
fn a_borrowed_object_takes_a_copy_until_an_update_leaves_no_edit() {
    let (mut room, bodies) = Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<Body>();
        },
        1,
        |server| (0..BODIES).map(|id| server.spawn(Body { id, ..Body::default() })).collect::<Vec<_>>(),
    );
    let move_all = |room: &mut Room| {
        bodies.iter().for_each(|&body| room.server[body].position[0] += 1.0);
        room.settle();
        room.polled(0);
    };
    // The buffers of the server grow, and shrink after a round.
    (0..8).for_each(|_| move_all(&mut room));
    let nobody = growth(&mut room, move_all);
    assert!(nobody < 4.0, "{nobody} B for each object");

    let borrowed = growth(&mut room, |room| {
        bodies.iter().for_each(|&body| room.guests[0].client[body].mesh = 7);
    });
    let copy = size_of::<Body>() as f64;
    assert!((copy..copy + 44.0).contains(&borrowed), "{borrowed} B for each object of {copy} B");
    let updated = growth(&mut room, move_all);
    assert!((-copy - 44.0..-copy - 36.0).contains(&updated), "{updated} B for each object");

    // While an edit of the user remains, the client keeps the copy. `restore` drops the copy.
    bodies.iter().for_each(|&body| room.guests[0].client[body].id = 7);
    let updated = growth(&mut room, move_all);
    assert!(updated.abs() < 4.0, "{updated} B for each object");
    let restored = growth(&mut room, |room| {
        bodies.iter().for_each(|&body| _ = room.guests[0].client.object(body).restore());
    });
    assert!(restored < -copy, "{restored} B for each object");
}
