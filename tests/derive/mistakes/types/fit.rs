mod atomic_fast_array {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(atomic)]
        items: FastArray<u8>,
    }
}

mod bits_of_a_float {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = 4)]
        value: f32,
    }
}

mod max_len_of_a_fixed_array {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(max_len = 4)]
        value: [u8; 8],
    }
}

mod max_len_of_an_integer {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(max_len = 4)]
        value: u16,
    }
}

mod quantize_a_fast_array_of_integers {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
        counts: FastArray<u8>,
    }
}

mod quantize_a_parameter {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Sample<T> {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
        value: T,
    }

    fn is_replicated<T: Replicated>() {}

    fn used() {
        is_replicated::<Sample<f32>>();
        is_replicated::<Sample<u16>>();
    }
}

mod quantize_a_vec_of_bools {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
        value: Vec<bool>,
    }
}

mod quantize_an_integer {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
        value: u16,
    }
}

mod range_of_128_bits {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..=100)]
        value: u128,
    }
}

mod range_of_a_string {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..=100)]
        value: String,
    }
}

mod range_of_items {
    use repl::prelude::*;

    #[derive(FastArrayItem, Clone, Default)]
    struct Stack {
        count: u8,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..=9)]
        stacks: FastArray<Stack>,
    }
}

mod smallest_three_of_a_vector {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(smallest_three = 10))]
        value: [f32; 3],
    }
}

mod unit_vector_of_doubles {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(unit_vector = 10))]
        value: [f64; 3],
    }
}

fn main() {}
