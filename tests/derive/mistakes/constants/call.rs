mod max_len_by_a_constant {
    use repl::prelude::*;

    // As a `u32` this is 705,032,704.
    const MOST: u64 = 5_000_000_000;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn say(&mut self, #[replicated(max_len = MOST)] text: String) {
            drop(text);
        }
    }
}

mod per_second_constant_beyond_all {
    use repl::prelude::*;

    // As a `u32` this is 1.
    const MOST: u64 = 4_294_967_297;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, per_second = MOST)]
        fn fire(&mut self) {}
    }
}

mod per_second_constant_too_large {
    use repl::prelude::*;

    const MOST: u32 = 20_000;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, per_second = MOST)]
        fn fire(&mut self) {}
    }
}

fn main() {}
