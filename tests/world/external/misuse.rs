//! Calls of methods for the server's own objects with objects that live outside the server, and the other way
//! round. The error says which method to call instead.

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Thing {
    #[replicated]
    size: u32,
}

fn server() -> (Server, ObjectRef<Thing>) {
    let mut server = Server::new(ServerConfig::default());
    let thing = server.external().spawn(&Thing::default());
    (server, thing)
}

#[test]
fn methods_that_return_live_objects_return_none_from_outside_the_server() {
    let (mut server, thing) = server();
    let other = server.external().spawn(&Thing::default());
    assert!(server.contains(thing));
    assert!(server.get(thing).is_none() && server.get_mut(thing).is_none());
    assert!(server.get_pair_mut(thing, other).is_none());
    assert!(server.get_disjoint_mut([thing, other]).is_none());
    assert_eq!((server.objects::<Thing>().count(), server.objects_mut::<Thing>().count()), (0, 0));
    server.tick(std::time::Duration::ZERO);
}

#[test]
#[should_panic = "hand it over with `external::<Thing>().compare`"]
fn indexing_an_object_outside_the_server_panics_with_a_hint_for_reading() {
    let (server, thing) = server();
    let _: u32 = server[thing].size;
}

#[test]
#[should_panic = "hand it over with `external::<Thing>().compare`"]
fn indexing_an_object_outside_the_server_panics_with_a_hint_for_writing() {
    let (mut server, thing) = server();
    server[thing].size = 1;
}

#[test]
#[should_panic = "there is no Thing"]
fn indexing_a_missing_object_outside_the_server_panics_with_a_hint() {
    let (mut server, thing) = server();
    server.despawn(thing);
    let _: u32 = server[thing].size;
}

#[test]
#[should_panic = "spawn them with `external::<Thing>().spawn`"]
fn spawning_by_value_says_how_to_spawn_outside_the_server() {
    let (mut server, _) = server();
    server.spawn(Thing::default());
}

#[test]
#[should_panic = "call `register_external::<Thing>()` before anything else registers or spawns them"]
fn a_class_of_the_servers_own_objects_cannot_live_outside_it_as_well() {
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Thing::default());
    server.external().spawn(&Thing::default());
}

#[test]
fn the_function_that_registers_for_both_sides_leaves_external_classes_as_they_are() {
    fn register(side: &mut impl Register) {
        side.register::<Thing>();
    }
    let (mut server, thing) = server();
    register(&mut server);
    assert!(server.external().compare(thing, &Thing { size: 2 }).is_ok());
}

#[test]
#[should_panic = "has connected already: call `register_external::<Thing>()` before the first one"]
fn a_class_is_registered_before_the_first_connection() {
    let mut server = Server::new(ServerConfig::default());
    server.connect(std::time::Duration::ZERO);
    server.external().spawn(&Thing::default());
}

#[test]
fn a_class_that_was_registered_as_the_panic_says_can_be_spawned_after_the_first_connection() {
    let mut server = Server::new(ServerConfig::default());
    server.register_external::<Thing>();
    server.connect(std::time::Duration::ZERO);
    let thing = server.external().spawn(&Thing::default());
    assert!(server.contains(thing));
}
