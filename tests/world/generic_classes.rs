//! Each instance of a generic class is a separate class.

use repl::prelude::*;

use crate::support::Room;

#[derive(NetSerialize, Clone, Default, Debug, PartialEq)]
struct Apple {
    is_ripe: bool,
}

#[derive(NetSerialize, Clone, Default, Debug, PartialEq)]
struct Sword(u16);

#[derive(Replicated, Default)]
struct Slot<T: Default> {
    #[replicated]
    thing: T,
}

fn register(side: &mut impl Register) {
    side.register::<Slot<Sword>>().register::<Slot<Apple>>();
}

#[test]
fn two_instances_of_a_generic_class_are_on_one_server() {
    let (room, (apple, sword)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        register(server);
        let apple = server.spawn(Slot { thing: Apple { is_ripe: true } });
        (apple, server.spawn(Slot { thing: Sword(7) }))
    });
    let client = room.client();
    assert_eq!(client.get(apple).map(|slot| &slot.thing), Some(&Apple { is_ripe: true }));
    assert_eq!(client.get(sword).map(|slot| &slot.thing), Some(&Sword(7)));
    assert_eq!(client.object_info(sword).to_string(), "Slot<Sword> 1v1");
}

#[derive(Replicated, Default)]
struct Tagged<T> {
    #[replicated]
    number: u8,
    tag: std::marker::PhantomData<T>,
}

#[test]
#[should_panic(expected = "are both called `Tagged` on the wire")]
fn instances_whose_properties_do_not_show_their_arguments_are_one_class_on_the_wire() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Tagged<Apple>>().register::<Tagged<Sword>>();
}
