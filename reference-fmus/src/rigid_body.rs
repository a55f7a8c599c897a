//! A chain of rigid bodies on revolute joints: which torques go with a motion.
//!
//! Recursive Newton-Euler (Luh, Walker & Paul, *On-line computational scheme for mechanical
//! manipulators*, 1980), every vector in the frame of its link. Outwards, from the ground to the tip:
//!
//! ```text
//! ω_k = Rᵀ (ω + v_k e_z),   α_k = Rᵀ (α + a_k e_z + ω × v_k e_z)
//! p̈_k = Rᵀ p̈ + α_k × o_k + ω_k × (ω_k × o_k)                            origin of frame k
//! ```
//!
//! and inwards, from the tip to the ground: each joint carries the forces and moments that Newton and Euler
//! ask for all bodies beyond it; its torque is their moment about its axis. The torques are linear in the
//! accelerations, τ = M(q) a + h(q, v), and M is symmetric positive definite, as ½ vᵀ M v is the kinetic
//! energy. So column k of M is the torque that goes with a = e_k, v = 0 and no weight (Walker & Orin,
//! *Efficient dynamic computer simulation of robotic mechanisms*, 1982, method 1), h the one with a = 0.
//!
//! A body is its mass m, first moment m r and inertia about the origin of its frame, not about its
//! centre: forces are linear in these ten numbers, and two bodies joined have their sum.

use crate::dual::Num;
use crate::linear::{Matrix, Vector, add, cross};

/// Standard Denavit-Hartenberg: Rot_z(q) Trans_z(d) Trans_x(a) Rot_x(α) leads from the frame
/// before to the link's own, at its far end.
pub struct Link {
    pub d: f64,
    pub a: f64,
    /// cos α and sin α: numbers, so that right angles are exact.
    pub twist: (f64, f64),
    pub body: Body<f64>,
}

#[derive(Clone, Copy)]
pub struct Body<T> {
    mass: T,
    moment: Vector<T>,
    /// xx, yy, zz, xy, yz, xz about the origin.
    inertia: [T; 6],
}

impl Body<f64> {
    /// From the principal moments of inertia about the centre of mass, parallel to the frame: Steiner moves
    /// them to the origin.
    pub const fn new(mass: f64, centre: Vector<f64>, inertia: Vector<f64>) -> Body<f64> {
        let ([x, y, z], [xx, yy, zz]) = (centre, inertia);
        Body {
            mass,
            moment: [mass * x, mass * y, mass * z],
            inertia: [
                xx + mass * (y * y + z * z),
                yy + mass * (x * x + z * z),
                zz + mass * (x * x + y * y),
                -mass * x * y,
                -mass * y * z,
                -mass * x * z,
            ],
        }
    }
}

impl<T: Num> Body<T> {
    fn of(body: &Body<f64>) -> Body<T> {
        Body { mass: body.mass.into(), moment: body.moment.map(T::from), inertia: body.inertia.map(T::from) }
    }

    /// With so many times another body fixed to it.
    fn loaded(mut self, times: T, with: &Body<f64>) -> Body<T> {
        self.mass += times * with.mass;
        self.moment.iter_mut().zip(with.moment).for_each(|(sum, one)| *sum += times * one);
        self.inertia.iter_mut().zip(with.inertia).for_each(|(sum, one)| *sum += times * one);
        self
    }

    /// Force, and moment about the origin, that this motion needs.
    fn wrench(&self, omega: Vector<T>, alpha: Vector<T>, origin: Vector<T>) -> (Vector<T>, Vector<T>) {
        let [xx, yy, zz, xy, yz, xz] = self.inertia;
        let inertia = |[x, y, z]: Vector<T>| {
            [xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z]
        };
        let force = add(origin.map(|a| a * self.mass), carried(omega, alpha, self.moment));
        let spin = add(inertia(alpha), cross(omega, inertia(omega)));
        (force, add(spin, cross(self.moment, origin)))
    }
}

/// Acceleration, beyond that of the origin, of a point at `arm` of a turning body.
fn carried<T: Num>(omega: Vector<T>, alpha: Vector<T>, arm: Vector<T>) -> Vector<T> {
    add(cross(alpha, arm), cross(omega, cross(omega, arm)))
}

/// A chain in one posture.
pub struct Chain<'a, T, const N: usize> {
    links: &'a [Link; N],
    bodies: [Body<T>; N],
    /// sin q and cos q.
    turns: [(T, T); N],
}

impl<'a, T: Num, const N: usize> Chain<'a, T, N> {
    /// At the angles q, with `payload` times the body `held` fixed to the last link.
    pub fn new(links: &'a [Link; N], q: &[T; N], payload: T, held: &Body<f64>) -> Chain<'a, T, N> {
        let mut bodies = std::array::from_fn(|k| Body::of(&links[k].body));
        if let Some(last) = bodies.last_mut() {
            *last = last.loaded(payload, held);
        }
        Chain { links, bodies, turns: q.map(T::sin_cos) }
    }

    /// τ = M(q) a + h(q, v). `gravity` acts against z of the ground: it is the same as a ground
    /// that accelerates upwards.
    pub fn torques(&self, v: &[T; N], a: &[T; N], gravity: f64) -> [T; N] {
        let zero = T::from(0.0);
        let (mut omega, mut alpha, mut origin) = ([zero; 3], [zero; 3], [zero, zero, T::from(gravity)]);
        let mut wrenches = [([zero; 3], [zero; 3]); N];
        for k in 0..N {
            let [x, y, z] = alpha;
            alpha = self.enter(k, [x + omega[1] * v[k], y - omega[0] * v[k], z + a[k]]);
            omega = self.enter(k, [omega[0], omega[1], omega[2] + v[k]]);
            origin = add(self.enter(k, origin), carried(omega, alpha, self.offset(k)));
            wrenches[k] = self.bodies[k].wrench(omega, alpha, origin);
        }
        let (mut force, mut moment, mut torques) = ([zero; 3], [zero; 3], [zero; N]);
        for k in (0..N).rev() {
            let (own_force, own_moment) = wrenches[k];
            force = add(force, own_force);
            // From here on about the origin of the frame before, on the joint's axis.
            moment = add(add(moment, own_moment), cross(self.offset(k), force));
            (force, moment) = (self.leave(k, force), self.leave(k, moment));
            torques[k] = moment[2];
        }
        torques
    }

    /// h(q, v): what remains of the torques without acceleration.
    pub fn bias(&self, v: &[T; N], gravity: f64) -> [T; N] {
        self.torques(v, &[T::from(0.0); N], gravity)
    }

    /// M(q), by rows or by columns: it is symmetric.
    pub fn mass_matrix(&self) -> Matrix<T, N> {
        let still = [T::from(0.0); N];
        std::array::from_fn(|k| {
            let mut unit = still;
            unit[k] = T::from(1.0);
            self.torques(&still, &unit, 0.0)
        })
    }

    /// From the origin of the frame before to that of frame k, in frame k.
    fn offset(&self, k: usize) -> Vector<T> {
        let link = &self.links[k];
        let (cos, sin) = link.twist;
        [link.a.into(), (link.d * sin).into(), (link.d * cos).into()]
    }

    /// From the frame before into frame k: Rᵀ x.
    fn enter(&self, k: usize, [x, y, z]: Vector<T>) -> Vector<T> {
        let ((s, c), (cos, sin)) = (self.turns[k], self.links[k].twist);
        let across = c * y - s * x;
        [c * x + s * y, across * cos + z * sin, z * cos - across * sin]
    }

    /// From frame k into the frame before: R x.
    fn leave(&self, k: usize, [x, y, z]: Vector<T>) -> Vector<T> {
        let ((s, c), (cos, sin)) = (self.turns[k], self.links[k].twist);
        let across = y * cos - z * sin;
        [c * x - s * across, s * x + c * across, y * sin + z * cos]
    }
}
