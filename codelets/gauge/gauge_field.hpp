#pragma once
// Links on the task graph: in blocks, each with a border of its neighbours' links. Smearing, heatbath and observables work on it.
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/boundary.hpp"
#include "runtime/cut/halo.hpp"
#include "runtime/graph/codelet.hpp"

#include <array>
#include <optional>
#include <vector>

namespace quarkstar::gauge {

/// U_mu(x) in double precision, one handle for each of this rank's blocks, and a border of depth[mu] sites on either side of a block, also
/// in directions that are not cut, where it repeats the block's other side. Tasks read and write handles; whoever writes links fills the
/// borders (BorderExchange) before others read them. Needs a running session. Memory: 576 bytes per site, border included.
class GaugeField {
 public:
  /// Throws Error(input) where a block of any rank is thinner than the border.
  GaugeField(const runtime::Decomposition& decomposition, const Coord& depth);
  GaugeField(const runtime::Decomposition& decomposition, int depth) : GaugeField(decomposition, Coord{depth, depth, depth, depth}) {}

  const runtime::Decomposition& decomposition() const { return decomposition_; }
  const Coord& lattice() const { return decomposition_.lattice(); }
  /// Those of this rank.
  const std::vector<runtime::Block>& blocks() const { return blocks_; }
  const Coord& depth() const { return depth_; }
  /// Throws ShapeError where it is less than that in some direction. where: the error's.
  void require_border(int depth, const char* where) const;
  LinkShape shape(const runtime::Block& block) const { return {block.extents, depth_}; }
  const runtime::Handle& handle(const runtime::Block& block) const {
    return handles_[static_cast<std::size_t>(decomposition_.local_index(block.index))];
  }

  /// The sites of this rank's part and of the border around it, as far as the lattice has others.
  Box box() const;
  /// Those of them that the block has, in coordinates of the block: its own, and where it is at the part's edge the border there. No two
  /// blocks have one.
  Box sites_of(const runtime::Block& block) const;

 private:
  /// Layers of border on the low and the high side of the part in which the lattice's other sites are.
  std::array<int, 2> layers_around(std::size_t mu) const;

  runtime::Decomposition decomposition_;
  Coord depth_;
  std::vector<runtime::Block> blocks_;
  std::vector<runtime::Handle> handles_;
};

// The following submit tasks and return. Sites inside the border are meant unless it is mentioned.

/// links <- host, multiplied by the boundary phase e^{i pi theta_mu} at x_mu = L_mu - 1 of the lattice. host holds this rank's part, or
/// more of the lattice, and must outlive the tasks. Throws ShapeError when it does not hold it.
void load(const GaugeField& links, const HostGauge& host, const BoundaryAngles& boundary = periodic);

struct StoreOptions {
  double scale = 1;
  const GaugeField* extra = nullptr;  ///< with a border at least as deep
  double extra_scale = 0;
  bool staggered_phases = false;  ///< eta_mu(x) of docs/conventions.md 4
};
/// host <- eta_mu(x) (scale links + extra_scale extra). host is a box within links.box(), border included, of which only it is stored, and
/// must outlive the tasks; wait for the session before reading it. Throws ShapeError where it is not within.
void store(HostGauge& host, const GaugeField& links, const StoreOptions& options = {});

/// Copies within the links of a block, and between them and faces, in order.
struct BorderCopies {
  static constexpr int most = 8;
  int count;
  struct Part {
    int to, from;  ///< 0: the block; 1, 2, ...: faces
    BoxCopy box;
    /// Of a task, of `to` or `from`.
    static int buffer(int number, int first_face) { return number == 0 ? 0 : first_face + number - 1; }
  } parts[most];

  /// In a task whose buffer 0 is the block and whose buffers from first_face on are the faces: on a CPU; enqueued on a GPU.
  void run(const runtime::Call& call, int first_face) const;
  void launch(const runtime::Call& call, int first_face) const;
  double bytes() const;
};

/// Fills borders of a field with its neighbours' links, as often as it is asked to. Cut directions send their faces through a Halo, those
/// of other ranks as messages; others are copied within the block. In stages: a stage's faces hold borders that earlier ones have filled,
/// so that corners come along. CPU and GPU.
class BorderExchange {
 public:
  /// All links: direction after direction, x first, each with the borders of those before it. All ranks make theirs in the same order, and
  /// keep them until what they have submitted is done (Session::wait_all()). links: as long.
  explicit BorderExchange(const GaugeField& links);
  /// U_mu alone, where staples (staple_sum) of the block's links read it. Those around links of direction mu read beside the block in the
  /// other directions: one stage. All of them, and plaquettes, read before it in mu too, and at the corners of both: a stage more, before.
  enum class Staples { around_same_direction, all };
  BorderExchange(const GaugeField& links, int mu, Staples staples);
  /// Copies of one block for one task.
  struct OfBlock {
    BorderCopies copies;
    runtime::AccessList faces;

    void add(const runtime::Access& face, bool is_target, const BoxCopy& box);
  };

  /// One or two tasks per block, and one more for each further stage with a cut direction.
  void submit();

  // The same without the first and the last tasks, in which small blocks spend much of their time: for those who have tasks before and
  // behind it that write all links of a block. For each of links.blocks():
  /// What tasks copy once they have changed the links.
  std::vector<OfBlock> begin();
  /// Once these are submitted. What tasks copy before anybody reads the borders.
  std::vector<OfBlock> finish();
  /// Tasks that copy and do nothing else.
  void submit(const std::vector<OfBlock>& of_blocks, bool urgent) const;

 private:
  struct Stage {
    std::vector<int> directions;
    Coord low{}, high{};                ///< layers of border that faces hold on the low and high sides of other directions
    std::optional<runtime::Halo> halo;  ///< where a direction is cut
  };
  Stage stage(std::vector<int> directions, const Coord& low, const Coord& high) const;
  std::vector<OfBlock> nothing() const;
  /// Copies of stages from at_ on, until one sends faces.
  void gather(std::vector<OfBlock>& of_blocks);
  /// That stage's messages, and copies of what it receives.
  void receive(std::vector<OfBlock>& of_blocks);
  /// The layers of a block at one side of a direction: of its border, or those that its neighbours' borders repeat.
  Box slab(const LinkShape& shape, const Stage& stage, int direction, bool high, bool border) const;

  const GaugeField& links_;
  int first_, together_;  ///< links of a site that are exchanged
  std::vector<Stage> stages_;
  std::size_t at_ = 0;  ///< the next stage to end
};

/// All links of all borders, once. On several ranks it returns when the borders are filled, and every rank calls.
void exchange_border(const GaugeField& links);

}  // namespace quarkstar::gauge
