//! Collections that take more bytes than a packet or a tick may have. First the client may see the
//! collections, then it may not, and then it may see them again (S42, R15).
//!
//! *Invariant:* nothing is lost, so the view alone decides what a client receives.

use std::collections::BTreeMap;

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Vault {
    #[replicated(condition = OwnerOnly)]
    coins: FastArray<u32>,
    #[replicated(condition = OwnerOnly)]
    queue: OrderedFastArray<u32>,
    #[replicated(condition = OwnerOnly)]
    ledger: BTreeMap<u32, u64>,
}

/// Functions that each fill one of the collections with `count` elements.
const FILLS: [fn(&mut Vault, u32); 3] = [
    |vault, count| vault.coins.extend(0..count),
    |vault, count| vault.queue.extend(0..count),
    |vault, count| vault.ledger.extend((0..count).map(|key| (key, u64::from(key) << 40))),
];

fn room(config: ServerConfig) -> (Room, ObjectRef<Vault>) {
    let register = |client: &mut Client| _ = client.register::<Vault>();
    Room::furnished(config, register, 1, |server| server.spawn(Vault::default()))
}

/// Returns how many elements the client has in all collections together.
fn len(room: &Room, vault: ObjectRef<Vault>) -> usize {
    let vault = &room.client()[vault];
    vault.coins.len() + vault.queue.len() + vault.ledger.len()
}

fn assert_same(room: &Room, vault: ObjectRef<Vault>) {
    let (here, there) = (&room.server[vault], &room.client()[vault]);
    assert_eq!(there.coins.len(), here.coins.len());
    assert!(here.coins.ids().iter().all(|&id| here.coins.by_id(id) == there.coins.by_id(id)));
    assert_eq!(there.queue, here.queue);
    assert_eq!(there.ledger, here.ledger);
}

#[test]
fn s42_a_collection_larger_than_a_packet_arrives_whole_when_it_comes_into_view() {
    for fill in FILLS {
        let (mut room, vault) = room(ServerConfig::default());
        fill(&mut room.server[vault], 3_000);
        room.settle();
        assert_eq!(len(&room, vault), 0, "nobody owns it");
        let owner = room.guests[0].id;
        room.server.object(vault).set_owner(Some(owner));
        room.settle();
        assert_same(&room, vault);
    }
}

#[test]
fn s42_waiting_changes_that_are_hidden_are_sent_when_visible_again() {
    for fill in FILLS {
        let config = ServerConfig { max_bytes_per_tick: 1_500, ..ServerConfig::default() };
        let (mut room, vault) = room(config);
        let owner = room.guests[0].id;
        room.server.object(vault).set_owner(Some(owner));
        room.settle();
        fill(&mut room.server[vault], 5_000);
        (0..3).for_each(|_| _ = room.step());
        assert!((1..5_000).contains(&len(&room, vault)), "a part has arrived, the rest waits");
        room.server.object(vault).set_owner(None);
        room.server.object(vault).set_owner(Some(owner));
        room.settle();
        assert_same(&room, vault);
    }
}
