// The names of UVM 1.2's register layer that a register model uses, with their signatures and without what they do.
package uvm_pkg;

  typedef enum {UVM_NO_ENDIAN, UVM_LITTLE_ENDIAN, UVM_BIG_ENDIAN, UVM_LITTLE_FIFO, UVM_BIG_FIFO} uvm_endianness_e;
  typedef enum {UVM_IS_OK, UVM_NOT_OK, UVM_HAS_X} uvm_status_e;
  typedef enum {UVM_NO_COVERAGE = 0, UVM_CVR_REG_BITS = 1, UVM_CVR_ADDR_MAP = 2, UVM_CVR_FIELD_VALS = 4, UVM_CVR_ALL = -1}
    uvm_coverage_model_e;
  typedef bit [63:0] uvm_reg_data_t;
  typedef bit [63:0] uvm_reg_addr_t;

  virtual class uvm_object;
    function new(string name = "");
    endfunction
    virtual function string get_name();
      return "";
    endfunction
    virtual function void print();
    endfunction
  endclass

  typedef class uvm_reg;
  typedef class uvm_reg_map;
  typedef class uvm_reg_file;

  class uvm_reg_field extends uvm_object;
    rand uvm_reg_data_t value;
    function new(string name = "uvm_reg_field");
      super.new(name);
    endfunction
    function void configure(uvm_reg parent, int unsigned size, int unsigned lsb_pos, string access, bit volatile,
                            uvm_reg_data_t reset, bit has_reset, bit is_rand, bit individually_accessible);
    endfunction
    virtual function void reset(string kind = "HARD");
    endfunction
  endclass

  virtual class uvm_reg_block extends uvm_object;
    uvm_reg_map default_map;
    function new(string name = "", int has_coverage = UVM_NO_COVERAGE);
      super.new(name);
    endfunction
    function void configure(uvm_reg_block parent = null, string hdl_path = "");
    endfunction
    virtual function uvm_reg_map create_map(string name, uvm_reg_addr_t base_addr, int unsigned n_bytes, uvm_endianness_e endian,
                                            bit byte_addressing = 1);
      return null;
    endfunction
    virtual function void lock_model();
    endfunction
    virtual function void reset(string kind = "HARD");
    endfunction
  endclass

  virtual class uvm_reg extends uvm_object;
    function new(string name = "", int unsigned n_bits, int has_coverage);
      super.new(name);
    endfunction
    function void configure(uvm_reg_block blk_parent, uvm_reg_file regfile_parent = null, string hdl_path = "");
    endfunction
    virtual function void reset(string kind = "HARD");
    endfunction
    virtual function void set(uvm_reg_data_t value, string fname = "", int lineno = 0);
    endfunction
    virtual function uvm_reg_data_t get(string fname = "", int lineno = 0);
      return 0;
    endfunction
    virtual task write(output uvm_status_e status, input uvm_reg_data_t value);
      status = UVM_IS_OK;
    endtask
    virtual task read(output uvm_status_e status, output uvm_reg_data_t value);
      status = UVM_IS_OK;
      value = 0;
    endtask
  endclass

  class uvm_reg_file extends uvm_object;
    function new(string name = "");
      super.new(name);
    endfunction
  endclass

  class uvm_reg_map extends uvm_object;
    function new(string name = "uvm_reg_map");
      super.new(name);
    endfunction
    virtual function void add_reg(uvm_reg rg, uvm_reg_addr_t offset, string rights = "RW", bit unmapped = 0);
    endfunction
    virtual function void add_submap(uvm_reg_map child_map, uvm_reg_addr_t offset);
    endfunction
  endclass

endpackage
