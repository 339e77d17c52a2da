mod after_a_mistake {
    //! A mistake in an attribute does not cause errors at the setters.

    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(pushed)]
        health: u16,
        #[replicated(push)]
        slots: [u8; 4],
    }

    fn hit(server: &mut Server, player: ObjectRef<Player>) {
        server.edit(player).health(5).slots_at(1, 2);
        server.edit(player).slots_mut()[0] = 1;
    }
}

fn main() {}
