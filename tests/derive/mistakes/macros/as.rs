mod no_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(as)]
        position: (f32, f32, f32),
    }
}

mod with_other_forms {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(as = [f32; 3], with = place)]
        position: (f32, f32, f32),
        #[replicated(as = [f32; 3], atomic)]
        aim: (f32, f32, f32),
    }
}

fn main() {}
