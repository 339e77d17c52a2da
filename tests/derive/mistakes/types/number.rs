mod range_of_a_wide_constant {
    use repl::Replicated;

    // As an `i128` this is -1.
    const LEAST: u128 = u128::MAX;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = LEAST..=5)]
        score: i8,
    }
}

mod range_of_float_constants {
    use repl::Replicated;

    const MOST: f32 = 9.75;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..=MOST)]
        speed: u8,
    }
}

fn main() {}
