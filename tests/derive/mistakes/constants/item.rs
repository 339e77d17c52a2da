mod condition_in_a_nested_struct {
    use repl::{FastArrayItem, Replicated};

    #[derive(Replicated, Clone, Default)]
    struct Gem {
        #[replicated(condition = OwnerOnly)]
        cut: u8,
    }

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        kind: u16,
        gem: Gem,
    }
}

mod max_len_by_a_constant {
    use repl::prelude::*;

    // As a `u32` this is 705,032,704.
    const MOST: u64 = 5_000_000_000;

    #[derive(FastArrayItem, Clone, Default)]
    struct Stack {
        #[replicated(max_len = MOST)]
        name: String,
    }
}

fn main() {}
