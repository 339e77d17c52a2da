mod bits_by_a_constant {
    use repl::Replicated;

    // As a `u8` this is 5.
    const BITS: u32 = 261;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = BITS)]
        ammo: u16,
    }
}

mod bits_over_the_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = 9)]
        value: u8,
    }

    fn used() {
        Player::program();
    }
}

mod max_len_by_a_constant {
    use repl::Replicated;

    // As a `u32` this is 705,032,704.
    const MOST: u64 = 5_000_000_000;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(max_len = MOST)]
        name: String,
    }
}

mod max_len_zero_by_a_constant {
    use repl::Replicated;

    const NOTHING: usize = 0;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(max_len = NOTHING)]
        scores: Vec<u8>,
    }
}

mod quantize_range_by_a_constant {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.5, range = 0.0..=f64::INFINITY))]
        lean: f32,
    }
}

mod range_over_the_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..=300)]
        value: u8,
    }

    fn used() {
        Player::program();
    }
}

mod range_over_the_type_by_a_constant {
    use repl::Replicated;

    const MOST: u64 = 300;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = -5..=MOST)]
        value: i8,
    }
}

mod smallest_three_by_a_constant {
    use repl::Replicated;

    const TWO_BITS: u8 = 2;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(smallest_three = TWO_BITS))]
        rotation: [f32; 4],
    }
}

mod step_by_a_constant {
    use repl::Replicated;

    const STEP: f64 = 0.0;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = STEP, range = -1.0..=1.0))]
        lean: f32,
    }
}

mod unit_vector_by_a_constant {
    use repl::Replicated;

    const TOO_MANY_BITS: u8 = 23;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(unit_vector = TOO_MANY_BITS))]
        facing: [f32; 3],
    }
}

fn main() {}
