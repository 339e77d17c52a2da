mod archetype_of_another_class {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Player {
        health: u16,
    }

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Door {
        open: bool,
    }

    fn build(server: &mut Server) {
        let veteran = server.register_archetype(|| Player { health: 200 });
        server.spawn_from(veteran, Door::default());
    }
}

mod compared_by_a_function_for_all_classes {
    use repl::prelude::*;

    fn hand_over<T: Replicated>(server: &mut Server, object: ObjectRef<T>, live: &T) {
        server.external().compare(object, live).unwrap();
    }
}

mod compared_without_ids {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Bag {
        #[replicated]
        items: Option<FastArray<u8>>,
    }

    fn hand_over(server: &mut Server, object: ObjectRef<Bag>, bag: &Bag) {
        server.external().compare(object, bag).unwrap();
    }
}

mod property_of_another_class {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Player {
        #[replicated(push)]
        health: u16,
    }

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Door {
        #[replicated(push)]
        open: bool,
    }

    fn open(server: &mut Server, door: ObjectRef<Door>) {
        server.object(door).mark_dirty(Player::LAYOUT.property("health"));
    }
}

fn main() {}
