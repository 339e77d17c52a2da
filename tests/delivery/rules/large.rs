//! R15: updates and openings that are larger than a packet.
//!
//! *Invariant:* packets have at most 256 bytes.

use std::collections::VecDeque;
use std::time::Duration;

use repl::prelude::*;

use super::{Thing, copy, thing, things};
use crate::support::{Room, SIGN_OF_LIFE_BYTES, TICK, leaks};

fn small_packets() -> ServerConfig {
    ServerConfig { mtu_bytes: 256, ..ServerConfig::default() }
}

fn one_thing() -> (Room, ObjectRef<Thing>) {
    Room::furnished(small_packets(), things, 1, |server| server.spawn(thing(0)))
}

#[test]
fn r15_an_update_is_cut_between_properties() {
    let (mut room, one) = one_thing();
    room.server[one].name = "n".repeat(120);
    room.server[one].list = (0..60).map(|at| at * 1_000).collect();
    let packets = room.tick_one();
    assert_eq!(packets.len(), 2);
    assert!(packets.iter().all(|packet| packet.len() <= 256));
    room.deliver(0, &packets[1..]);
    let Thing { name, list, .. } = copy(&room, one);
    assert!(name.is_empty() != list.is_empty(), "one packet is one whole property");
    room.deliver(0, &packets[..1]);
    assert_eq!(copy(&room, one), room.server[one]);
}

#[test]
fn r15_small_and_large_properties_may_change_together() {
    for name in [0, 100, 150, 200, 300, 2_000] {
        for list in [0, 50, 80, 110, 1_000] {
            let (mut room, one) = one_thing();
            let on_server = &mut room.server[one];
            (on_server.a, on_server.b, on_server.maybe) = (1, 2, Some(3));
            on_server.name = "n".repeat(name);
            on_server.list = vec![4; list];
            let packets = room.tick_one();
            room.deliver(0, &packets);
            room.settle();
            assert_eq!(copy(&room, one), room.server[one], "{name} bytes and {list} elements");
        }
    }
}

#[test]
fn r15_a_larger_property_is_applied_when_whole() {
    let (mut room, one) = one_thing();
    room.server[one].name = "x".repeat(2_000);
    let mut packets = room.tick_one();
    assert!(packets.len() > 8);
    assert!(packets.iter().all(|packet| packet.len() <= 256));
    let last = packets.pop().unwrap();
    packets.reverse();
    room.deliver(0, &packets);
    assert_eq!(copy(&room, one).name, "");
    room.deliver(0, &[last]);
    assert_eq!(copy(&room, one).name.len(), 2_000);
}

#[test]
fn r15_only_the_fragments_that_were_lost_go_again() {
    let (mut room, one) = one_thing();
    room.server[one].name = "x".repeat(2_000);
    let mut packets = room.tick_one();
    let whole = packets.len();
    packets.remove(4);
    packets.remove(2);
    room.deliver(0, &packets);
    let mut again = 0;
    for _ in 0..30 {
        room.acknowledge();
        let packets = room.tick_one();
        again += packets.iter().filter(|packet| packet.len() > SIGN_OF_LIFE_BYTES).count();
        room.deliver(0, &packets);
    }
    assert_eq!(copy(&room, one).name.len(), 2_000);
    assert!(again <= 3, "{again} of {whole} packets were sent again");
}

#[test]
fn r15_while_fragments_are_under_way_nothing_else_of_the_object_is_sent() {
    let (mut room, one) = one_thing();
    room.server[one].name = "x".repeat(2_000);
    let packets = room.tick_one();
    room.server[one].a = 7;
    room.now -= TICK - Duration::from_micros(5);
    assert!(room.tick_one().is_empty());
    room.deliver(0, &packets);
    assert_eq!(copy(&room, one).a, 0);
    room.settle();
    assert_eq!(copy(&room, one), room.server[one]);
}

#[test]
fn s85_r15_while_fragments_are_under_way_other_objects_are_sent() {
    let (mut room, one) = one_thing();
    let other = room.server.spawn(thing(1));
    room.settle();
    room.server[one].name = "x".repeat(2_000);
    let mut packets = room.tick_one();
    packets.remove(2);
    room.deliver(0, &packets);
    room.server[other].a = 77;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert_eq!((copy(&room, other).a, copy(&room, one).name.len()), (77, 0));
    room.settle();
    assert_eq!(copy(&room, one), room.server[one]);
}

#[test]
fn r15_a_large_opening_comes_in_fragments() {
    let (mut room, _) = one_thing();
    let born = room.server.spawn(Thing { name: "y".repeat(1_500), a: 3, ..Thing::default() });
    let packets = room.tick_one();
    assert!(packets.len() > 6);
    room.deliver(0, &packets[1..]);
    assert!(!room.client().contains(born));
    room.settle();
    assert_eq!(copy(&room, born), room.server[born]);
    room.server.despawn(born);
    room.settle();
    assert!(!room.client().contains(born));
}

#[test]
fn r15_changes_after_the_fragments_are_in_the_next_update() {
    let (mut room, one) = one_thing();
    for round in 0..20 {
        room.server[one].name = format!("{round}").repeat(700);
        room.server[one].list = vec![round; 30];
        room.server[one].a = round.into();
        let packets = room.tick_one();
        let (kept, _) = packets.split_at(packets.len() / 2);
        room.deliver(0, kept);
        room.acknowledge();
    }
    room.settle();
    assert_eq!(copy(&room, one), room.server[one]);
}

#[test]
fn r15_the_destroyed_do_not_come_back_by_late_fragments() {
    let (mut room, _) = one_thing();
    let born = room.server.spawn(Thing { name: "y".repeat(1_500), ..Thing::default() });
    let late = room.tick_one();
    room.deliver(0, &late[1..]);
    room.server.despawn(born);
    let early = room.tick_one();
    room.deliver(0, &early);
    room.deliver(0, &late[..1]);
    assert!(!room.client().contains(born));
    room.settle();
    assert!(!room.client().contains(born));
}

#[derive(Replicated, Default)]
struct Vault {
    #[replicated(condition = OwnerOnly)]
    secret: String,
    #[replicated]
    open: bool,
}

#[test]
fn r15_a_flip_of_owner_abandons_unfinished_fragments() {
    let furnish = |server: &mut Server| server.spawn(Vault::default());
    let (mut room, vault) = Room::furnished(
        small_packets(),
        |client| {
            client.register::<Vault>();
        },
        1,
        furnish,
    );
    let owner = room.guests[0].id;
    room.server.object(vault).set_owner(Some(owner));
    room.settle();
    room.server[vault].secret = "top-secret-canary".repeat(100);
    let packets = room.tick_one();
    assert!(packets.iter().any(|packet| leaks(packet, b"top-secret-canary")), "the owner may see it");
    room.deliver(0, &packets[1..]);
    room.server.object(vault).set_owner(None);
    room.server[vault].open = true;
    for _ in 0..100 {
        room.acknowledge();
        let packets = room.tick_one();
        assert!(packets.iter().all(|packet| !leaks(packet, b"secret-canary")), "no fragment goes again");
        room.deliver(0, &packets);
    }
    let seen = room.client().get(vault).unwrap();
    assert!(seen.secret.is_empty() && seen.open);
    room.server.object(vault).set_owner(Some(owner));
    room.settle();
    assert_eq!(room.client().get(vault).unwrap().secret.len(), 1_700, "the owner again, it gets all of it");
}

#[test]
fn r15_abandoned_fragments_do_not_fill_the_client() {
    let furnish = |server: &mut Server| (0..100).map(|_| server.spawn(Vault::default())).collect::<Vec<_>>();
    let register = |client: &mut Client| {
        client.register::<Vault>();
    };
    let (mut room, vaults) = Room::furnished(small_packets(), register, 1, furnish);
    let owner = room.guests[0].id;
    for &vault in &vaults {
        room.server.object(vault).set_owner(Some(owner));
        room.server[vault].secret = "s".repeat(4_000);
        let packets = room.tick_one();
        room.deliver(0, &packets[1..]);
        room.server.object(vault).set_owner(None);
        room.acknowledge();
    }
    for &vault in &vaults {
        room.server.object(vault).set_owner(Some(owner));
    }
    room.settle();
    assert!(vaults.iter().all(|&vault| room.client().get(vault).unwrap().secret.len() == 4_000));
}

#[test]
fn r15_many_large_objects_wait_for_each_other() {
    let (mut room, _) = Room::furnished(ServerConfig::default(), things, 1, |server| server.spawn(thing(0)));
    let large = || Thing { name: "n".repeat(4_000), list: vec![7; 2_000], ..Thing::default() };
    let all: Vec<_> = (0..150).map(|_| room.server.spawn(large())).collect();
    room.settle();
    assert!(all.iter().all(|&object| copy(&room, object) == large()));
}

#[test]
fn r15_a_large_property_that_always_changes_starves_none_beside_it() {
    let (mut room, one) = one_thing();
    for tick in 1..60_u32 {
        room.server[one].name = char::from(b'a' + (tick % 26) as u8).to_string().repeat(900);
        room.server[one].list = vec![tick as u16; 300];
        room.server[one].maybe = Some(tick);
        room.step();
    }
    let Thing { name, list, maybe, .. } = copy(&room, one);
    assert!(maybe >= Some(50), "{maybe:?} is not of late");
    assert!(!name.is_empty() && !list.is_empty());
}

#[test]
fn r15_large_properties_that_always_change_starve_no_other_of_their_object() {
    for delay in 1..=4 {
        let (mut room, one) = one_thing();
        let mut acks = VecDeque::new();
        for tick in 0..60_u16 {
            room.server[one].name = char::from(b'a' + tick as u8 % 26).to_string().repeat(900);
            room.server[one].list = vec![tick; 700];
            let packets = room.tick_one();
            room.deliver(0, &packets);
            acks.push_back(room.replies(0));
            if acks.len() == delay {
                acks.pop_front().iter().for_each(|packets| room.hear(0, packets));
            }
        }
        let Thing { name, list, .. } = copy(&room, one);
        assert!(!name.is_empty() && !list.is_empty(), "acks that arrive after {delay} ticks");
    }
}

#[test]
fn r15_large_objects_that_always_change_starve_no_other() {
    let mut room = Room::furnished(small_packets(), things, 1, |server| server.spawn(thing(0))).0;
    let crowd: Vec<_> =
        (0..24).map(|at| room.server.spawn(Thing { name: "n".repeat(900), ..thing(at) })).collect();
    for tick in 0..120_u8 {
        for &one in &crowd[..23] {
            room.server[one].name = char::from(b'a' + tick % 26).to_string().repeat(900);
        }
        room.step();
    }
    assert!(crowd.iter().all(|&one| room.client().contains(one)), "some never came");
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Form {
    name: String,
    street: String,
    town: String,
    country: String,
    phone: String,
    work: String,
    hobby: String,
    note: String,
}

#[test]
fn r15_properties_that_do_not_fit_together_share_packets() {
    let register = |client: &mut Client| _ = client.register::<Form>();
    let (mut room, form) =
        Room::furnished(small_packets(), register, 1, |server| server.spawn(Form::default()));
    let Form { name, street, town, country, phone, work, hobby, note } = &mut room.server[form];
    for text in [name, street, town, country, phone, work, hobby, note] {
        *text = "t".repeat(60);
    }
    assert_eq!(room.tick_one().len(), 3, "three texts of 60 bytes fit into a packet");
}

#[derive(Replicated, Default)]
struct Hoard {
    #[replicated]
    coins: FastArray<u32>,
}

#[test]
fn r15_items_that_wait_when_their_object_ends_are_not_sent() {
    let register = |client: &mut Client| _ = client.register::<Hoard>();
    let config = ServerConfig { max_bytes_per_tick: 256, ..small_packets() };
    let (mut room, hoard) = Room::furnished(config, register, 1, |server| server.spawn(Hoard::default()));
    room.server[hoard].coins.extend(0..1_000);
    for _ in 0..3 {
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    let acks = room.replies(0);
    room.server.despawn(hoard);
    room.hear(0, &acks);
    room.settle();
    assert!(!room.client().contains(hoard));
}

#[derive(Replicated, Default)]
struct Filler {
    #[replicated]
    number: u32,
}

#[derive(Replicated, Default)]
struct Spy {
    #[replicated]
    number: u32,
    #[replicated]
    story: String,
    #[replicated(condition = OwnerOnly)]
    secret: String,
}

/// Returns a room with a spy. The first opening of the spy is small and declared lost. Its next opening is a
/// blob (an update in several packets), and no part of the blob has been sent yet.
fn unsent_blob() -> (Room, ObjectRef<Spy>) {
    let register = |client: &mut Client| {
        client.register::<Filler>().register::<Spy>();
    };
    let mut room = Room::new(ServerConfig { max_bytes_per_tick: 8, ..ServerConfig::default() }, register);
    room.server.register::<Filler>().register::<Spy>();
    let id = room.enter();
    room.settle();
    let spy = room.server.spawn(Spy { number: 1, ..Spy::default() });
    // This object has a higher slot than the spy. So when objects take turns, it is sent before the spy.
    let filler = room.server.spawn(Filler { number: 1 });
    room.server.object(spy).set_owner(Some(id));
    drop(room.tick_one());
    room.server[filler].number = 2;
    room.server[spy].story = "s".repeat(3_000);
    room.server[spy].secret = "secret-canary".repeat(20);
    drop(room.tick_one());
    room.wait(Duration::from_secs(1));
    let packets = room.tick_one();
    room.deliver(0, &packets);
    (room, spy)
}

#[test]
fn r15_a_blob_is_abandoned_at_a_flip_whatever_was_lost_before() {
    let (mut room, spy) = unsent_blob();
    room.server.object(spy).set_owner(None);
    for _ in 0..300 {
        room.acknowledge();
        let packets = room.tick_one();
        assert!(!leaks(&packets.concat(), b"secret-canary"), "no owner any more");
        room.deliver(0, &packets);
    }
}

#[test]
fn r15_a_change_during_a_blob_is_not_forgotten() {
    let (mut room, spy) = unsent_blob();
    room.server[spy].number = 7;
    for _ in 0..600 {
        room.step();
    }
    assert_eq!(room.client()[spy].number, 7);
}

#[test]
fn r15_large_properties_arrive_in_the_end_though_one_was_lost_again_and_again() {
    let secret = "canary of a blob";
    let furnish = |server: &mut Server| [0; 3].map(|a| server.spawn(thing(a)));
    let (mut room, all) = Room::furnished(ServerConfig::default(), things, 1, furnish);
    room.server[all[0]].name = secret.repeat(200);
    for round in 0..60_u16 {
        for &object in &all[1..] {
            room.server[object].name = char::from(b'a' + (round % 26) as u8).to_string().repeat(3_000);
        }
        room.acknowledge();
        for packet in room.tick_one() {
            if !leaks(&packet, secret.as_bytes()) {
                room.deliver(0, &[packet]);
            }
        }
    }
    assert_eq!(copy(&room, all[0]).name, "");
    room.settle();
    for object in all {
        assert_eq!(copy(&room, object), room.server[object]);
    }
}
