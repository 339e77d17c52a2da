//! Clients that call too much.
//!
//! The clock of the calls is simulated: each call that runs advances this clock.

use std::cell::Cell;
use std::time::Duration;

use repl::prelude::*;

use super::{ran_on_server, room_with};

thread_local! {
    static CLOCK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Advances the clock of the calls, as if a call ran for this long.
pub(super) fn run_for(time: Duration) {
    CLOCK.set(CLOCK.get() + time);
}

#[test]
fn calls_that_run_too_long_wait_and_do_not_delay_the_calls_of_others() {
    let config = ServerConfig {
        call_clock: Some(|| CLOCK.get()),
        call_time_per_second: Duration::from_millis(50),
        ..ServerConfig::default()
    };
    let (mut room, heroes) = room_with(config, 2);
    // The first client makes 20 calls of 20 ms each. At 50 ms per second, the server needs eight seconds for
    // them.
    for _ in 0..20 {
        room.guests[0].client.call(heroes[0]).dig(20).unwrap();
        room.guests[1].client.call(heroes[1]).dig(1).unwrap();
    }
    room.step();
    assert_eq!(ran_on_server(&room, heroes[0]).len(), 3, "50 ms and the call that exceeds them");
    assert_eq!(ran_on_server(&room, heroes[1]).len(), 20);
    let start = room.now;
    while room.now - start < Duration::from_secs(1) {
        room.step();
    }
    let after_a_second = ran_on_server(&room, heroes[0]).len();
    assert!((5..=6).contains(&after_a_second), "{after_a_second}");
    while room.now - start < Duration::from_secs(9) {
        room.step();
    }
    let ran = ran_on_server(&room, heroes[0]);
    assert!(ran.len() == 20 && ran.iter().all(|ran| ran == "dig 20"), "none was lost: {}", ran.len());
}

#[test]
fn a_client_keeps_the_limit_of_each_function() {
    let (mut room, heroes) = room_with(ServerConfig::default(), 1);
    let hero = heroes[0];
    let start = room.now;
    let mut made = [0; 2];
    while room.now - start < Duration::from_secs(3) {
        let client = &mut room.guests[0].client;
        made[0] += (0..100).take_while(|_| client.call(hero).wave(1).is_ok()).count();
        made[1] += (0..100).take_while(|_| client.call(hero).jump(1).is_ok()).count();
        room.step();
        while room.server.poll_call::<super::Hero>().is_some() {}
    }
    assert!((235..=240).contains(&made[0]), "60 at once and 60 a second: {made:?}");
    assert!((3_900..=4_000).contains(&made[1]), "{made:?}");
    let error = (0..100).find_map(|_| room.guests[0].client.call(hero).wave(1).err());
    assert_eq!(error, Some(CallError::TooFast { per_second: 60 }));
    assert_eq!(room.closed(0), None);
}
