mod attributes {
    use repl::Interpolate;

    #[derive(Interpolate)]
    #[interpolate(step)]
    struct Place {
        #[interpolate(steps)]
        floor: u8,
        #[interpolate(crate = "repl")]
        height: f32,
    }
}

mod of_an_enum {
    use repl::Interpolate;

    #[derive(Interpolate)]
    enum Stance {
        Standing,
        Lying,
    }
}

fn main() {}
