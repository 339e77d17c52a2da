mod max_len_by_a_constant {
    use repl::prelude::*;

    // As a `u32` this is 705,032,704.
    const MOST: u64 = 5_000_000_000;

    #[derive(NetSerialize, Clone, Default)]
    struct Note {
        #[replicated(max_len = MOST)]
        text: String,
    }
}

fn main() {}
