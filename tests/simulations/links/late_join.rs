//! A client that joins late, over a link that is too slow for the world: how many bytes the join costs, and
//! how long it takes (R26).
//!
//! *Invariant:* all packets go through the simulator, and its links have a rate and a queue.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, LinkId, Loss};

use crate::linked::Linked;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Rock {
    place: [f32; 3],
    marks: Vec<u32>,
}

fn rock(number: u32) -> Rock {
    let marks =
        (0..20).map(|mark: u32| (mark + 1).wrapping_mul(number.wrapping_mul(0x9e37_79b9) | 1)).collect();
    Rock { place: [number as f32 + 0.5, 2.5, 3.25], marks }
}

/// Returns a world with this many rocks, and a client that will receive them.
fn join(rocks: u32, link: LinkConditions, seed: u64) -> Linked {
    let mut server = Server::new(ServerConfig::default());
    for number in 0..rocks {
        server.spawn(rock(number));
    }
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(5));
    client.register::<Rock>();
    let mut linked = Linked::new(server, seed);
    linked.connect(client, link, link);
    linked
}

/// Runs until the client has this many rocks. Returns the elapsed time.
fn wait_for(linked: &mut Linked, rocks: usize, patience: Duration) -> Duration {
    let start = linked.clock.now();
    while linked.guests[0].client.objects::<Rock>().count() < rocks {
        linked.tick();
        let passed = linked.clock.now() - start;
        let here = linked.guests[0].client.objects::<Rock>().count();
        let sent = linked.down(0).bytes_sent;
        assert!(passed < patience, "{here} of {rocks} rocks after {passed:?}, {sent} bytes sent");
    }
    linked.clock.now() - start
}

fn links(linked: &Linked) -> [LinkId; 2] {
    [linked.guests[0].down, linked.guests[0].up]
}

#[test]
fn r26_a_late_join_of_1_7_mb_over_a_mobile_link_sends_2_mb_at_most() {
    const ROCKS: usize = 18_200;
    for seed in 0..12 {
        let mut join = join(ROCKS as u32, LinkConditions::mobile(), seed);
        wait_for(&mut join, ROCKS, Duration::from_secs(15));
        // In the end the client has received the whole world once.
        let world = ROCKS as u64 * 94;
        assert!(world > 1_690_000);
        let sent = join.down(0).bytes_sent;
        assert!(sent > world * 9 / 10, "{sent} bytes sent: the world is smaller than it seems");
        assert!(sent <= 2_000_000, "seed {seed}: {sent} bytes sent");
    }
}

#[test]
fn a_late_join_over_a_local_network_is_quick() {
    const ROCKS: usize = 5_000;
    let mut join = join(ROCKS as u32, LinkConditions::lan(), 1);
    let took = wait_for(&mut join, ROCKS, Duration::from_secs(5));
    assert!(took < Duration::from_millis(700), "{took:?}");
}

#[test]
fn r26_a_link_that_goes_silent_is_probed_and_comes_back_at_once() {
    const ROCKS: usize = 3_000;
    let mut join = join(ROCKS as u32, LinkConditions::wifi(), 2);
    wait_for(&mut join, ROCKS / 3, Duration::from_secs(20));
    let links = links(&join);
    links.iter().for_each(|&link| join.network.sever(link));
    (0..120).for_each(|_| join.tick());
    // After two seconds without acks, the server sends only two packets for each retry, and keep-alive
    // packets.
    let before = join.down(0).bytes_sent;
    (0..120).for_each(|_| join.tick());
    let probes = join.down(0).bytes_sent - before;
    assert!(probes < 2 * 9 * 1_200 + 200, "{probes} bytes to a silent link in two seconds");
    links.iter().for_each(|&link| join.network.mend(link));
    let took = wait_for(&mut join, ROCKS, Duration::from_secs(10));
    assert!(took < Duration::from_millis(2_600), "{took:?} after the silence");
}

#[test]
fn r09_a_fifth_lost_both_ways_and_two_seconds_of_darkness_are_recovered_from() {
    const ROCKS: usize = 300;
    for seed in 0..20 {
        let latency = Duration::from_millis(50);
        let link = LinkConditions { latency, loss: Loss::Independent(0.2), ..LinkConditions::perfect() };
        let mut join = join(ROCKS as u32, link, seed);
        wait_for(&mut join, ROCKS, Duration::from_secs(10));
        let links = links(&join);
        let rocks: Vec<_> = join.guests[0].client.objects::<Rock>().map(|(rock, _)| rock).collect();
        let change = |join: &mut Linked, tick: usize| {
            let rock = &mut join.server[rocks[tick * 7 % ROCKS]];
            rock.marks.push(tick as u32);
            rock.place[0] += 1.0;
            join.tick();
        };
        (0..120).for_each(|tick| change(&mut join, tick));
        let until = join.clock.now() + Duration::from_secs(2);
        links.iter().for_each(|&link| join.network.blackout(link, until));
        (120..240).for_each(|tick| change(&mut join, tick));
        join.server.despawn(rocks[0]);
        let start = join.clock.now();
        let round_trip = latency * 2 + Duration::from_millis(34);
        let differs = |join: &Linked| {
            let mut rocks = join.server.objects::<Rock>().filter(|(rock, there)| {
                let here = join.guests[0].client.get(*rock);
                here.is_none_or(|here| (here.place, &here.marks) != (there.place, &there.marks))
            });
            rocks.next().is_some() || join.guests[0].client.objects::<Rock>().count() >= ROCKS
        };
        assert!(differs(&join), "nothing got through in the dark");
        while differs(&join) {
            join.tick();
            let passed = join.clock.now() - start;
            assert!(passed <= round_trip * 10 + Duration::from_secs(2), "seed {seed}: {passed:?}");
        }
    }
}
