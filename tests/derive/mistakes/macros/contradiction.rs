mod atomic_and_bits {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(atomic, bits = 4)]
        value: u16,
    }
}

mod bits_and_range {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(bits = 4, range = 0..=9)]
        value: u16,
    }
}

mod delta_and_as {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta, as = Vec<u16>)]
        value: Vec<u8>,
    }
}

mod delta_and_atomic {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta, atomic)]
        value: String,
    }
}

mod delta_and_max_len {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta = module, max_len = 9)]
        value: String,
    }
}

mod delta_and_quantize {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta, quantize(step = 0.1, range = 0.0..=1.0))]
        value: Vec<f32>,
    }
}

mod delta_and_range {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta, range = 1..=9)]
        value: Vec<u8>,
    }
}

mod delta_and_with {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta = module, with = module)]
        value: u16,
    }
}

mod push_under_never {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = Never, push)]
        value: u16,
    }
}

mod quantize_and_bits {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(step = 0.1, range = 0.0..=1.0), bits = 4)]
        value: f32,
    }
}

mod saturate_a_quaternion {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(quantize(smallest_three = 10), saturate)]
        value: [f32; 4],
    }
}

mod saturate_without_bounds {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(saturate)]
        value: u16,
    }
}

mod skip_and_condition {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(skip, condition = OwnerOnly)]
        value: u16,
    }
}

mod with_and_atomic {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(with = module, atomic)]
        value: u16,
    }
}

mod with_and_quantize {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(with = module, quantize(step = 0.1, range = 0.0..=1.0))]
        value: f32,
    }
}

fn main() {}
