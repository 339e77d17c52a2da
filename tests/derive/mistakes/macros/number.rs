mod bits_of_a_float {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = 4.5)]
        value: u16,
    }
}

mod bits_too_many {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = 65)]
        value: u64,
    }
}

mod bits_zero {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = 0)]
        value: u16,
    }
}

mod exact_alone {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(exact))]
        value: f32,
    }
}

mod exact_outside_quantize {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0), exact)]
        value: f32,
    }
}

mod exact_twice {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(smallest_three = 12, exact, exact))]
        value: [f32; 4],
    }
}

mod exact_with_a_value {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(unit_vector = 12, exact = true))]
        value: [f32; 3],
    }
}

mod max_len_zero {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(max_len = 0)]
        value: String,
    }
}

mod quantize_alone {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize)]
        value: f32,
    }
}

mod quantize_range_reversed {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 1.0..=-1.0))]
        value: f32,
    }
}

mod quantize_two_ways {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(smallest_three = 10, unit_vector = 10))]
        value: [f32; 4],
    }
}

mod range_beyond_all_integers {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..=340282366920938463463374607431768211455)]
        gold: u64,
    }
}

mod range_half_open {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..100)]
        value: u16,
    }
}

mod range_is_a_number {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 100)]
        value: u16,
    }
}

mod range_of_floats {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0.0..=1.0)]
        value: f32,
    }
}

mod range_of_one_value {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 7..=7)]
        value: u16,
    }
}

mod range_reversed {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 100..=0)]
        value: u16,
    }
}

mod range_without_end {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(range = 0..)]
        value: u16,
    }
}

mod range_without_step {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(range = 0.0..=1.0))]
        value: f32,
    }
}

mod saturate_inside_quantize {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0, saturate))]
        value: f32,
    }
}

mod smallest_three_of_one_bit {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(smallest_three = 1))]
        value: [f32; 4],
    }
}

mod smallest_three_outside_quantize {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(smallest_three = 10)]
        value: [f32; 4],
    }
}

mod step_without_range {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1))]
        value: f32,
    }
}

mod step_zero {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.0, range = 0.0..=1.0))]
        value: f32,
    }
}

mod too_large {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.5, range = 0.0..=1e400))]
        speed: f32,
    }
}

mod unit_vector_of_30_bits {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(unit_vector = 30))]
        value: [f32; 3],
    }
}

fn main() {}
