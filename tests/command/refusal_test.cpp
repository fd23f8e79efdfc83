// What people read when arguments or files are wrong: one sentence, and exit code 2.
#include "command_runner.h"

namespace hone::command {
namespace {

using Refusal = CommandTest;

TEST_F(Refusal, OfAnUnknownOptionNamesThoseThereAre) {
  expect_refusal(hone("run --sead 1 dense.onnx"), {"--sead", "hone run", "--seed"});
  expect_refusal(hone("--verison"), {"--verison", "--version"});
}

TEST_F(Refusal, OfAnUnknownCommandNamesThoseThereAre) {
  expect_refusal(hone("rum dense.onnx"), {"'rum'", "run", "inspect", "bench"});
  expect_refusal(hone(""), {"no command", "run"});
}

TEST_F(Refusal, OfAMissingArgumentNamesIt) {
  expect_refusal(hone("run"), {"model", "hone run --help"});
  expect_refusal(hone("run dense.onnx --seed"), {"--seed"});
  expect_refusal(hone("run dense.onnx another.onnx"), {"another.onnx", "FILE"});
}

TEST_F(Refusal, OfNumbersNamesTheRange) {
  for (const char* number : {"-1", "1025", "two", "1.5", "''", "99999999999999999999"})
    expect_refusal(hone(std::string("run dense.onnx --threads ") + number), {"--threads", "0..1024"});
  expect_refusal(hone("bench dense.onnx --rounds 0"), {"--rounds", "'0'", "1.."});
  for (const char* number : {"0", "-1", "nan", "1e9", "soon"})
    expect_refusal(hone(std::string("bench dense.onnx --seconds ") + number), {"--seconds", number, "above 0"});
}

TEST_F(Refusal, OfModelsNamesTheFileAndWhatItIs) {
  write_dense();
  write("text.onnx", "This is a text, no model.\n");
  write("zero.onnx", "");
  const std::string whole = read("dense.onnx");
  write("half.onnx", std::string_view(whole).substr(0, whole.size() / 2));
  for (const std::string command : {"run --random ", "inspect ", "bench "}) {
    expect_refusal(hone(command + "none.onnx"), {"'none.onnx'", "No such file"});
    expect_refusal(hone(command + "."), {"'.'", "directory"});
    expect_refusal(hone(command + "/dev/null"), {"'/dev/null'", "regular file"});
    expect_refusal(hone(command + "text.onnx"), {"'text.onnx'", "not an ONNX model"});
    expect_refusal(hone(command + "zero.onnx"), {"'zero.onnx'", "no bytes"});
    expect_refusal(hone(command + "half.onnx"), {"'half.onnx'", "not an ONNX model, or a part of one"});
  }
}

TEST_F(Refusal, OfEachPartOfAModelIsNoCrash) {
  write_dense();
  const std::string whole = read("dense.onnx");
  for (std::size_t size = 1; size < whole.size(); size += 7) {
    write("part.onnx", std::string_view(whole).substr(0, size));
    const Outcome outcome = hone("run --random part.onnx");
    EXPECT_EQ(outcome.status, 2) << size << " bytes: " << outcome.errors;
  }
}

TEST_F(Refusal, OfInputsNamesWhatTheModelHas) {
  write_dense();
  write("empty.npy", "");
  expect_refusal(hone("run dense.onnx"), {"'x'", "tensor(float) of shape [batch, 3]", "--input x=FILE", "--random"});
  expect_refusal(hone("run dense.onnx --input z=x.npy"), {"'z'", "only: x"});
  expect_refusal(hone("run dense.onnx --input x.npy"), {"'x.npy'", "NAME=FILE"});
  expect_refusal(hone("run dense.onnx --input x=none.npy"), {"'none.npy'", "No such file"});
  expect_refusal(hone("run dense.onnx --input x=."), {"'.'", "directory"});
  expect_refusal(hone("run dense.onnx --input x=empty.npy"), {"'empty.npy'", "not a .npy file"});
  expect_refusal(hone("run dense.onnx --random --shape x=2xtwo"), {"--shape", "'two'"});
  expect_refusal(hone("run dense.onnx --random --shape x=2x"), {"--shape", "missing"});
  expect_refusal(hone("run dense.onnx --random --shape x=2x4"), {"'x'", "float[2, 4]", "[batch, 3]"});
  expect_refusal(hone("inspect dense.onnx --dim rows=2"), {"'rows'", "batch"});
  expect_refusal(hone("run dense.onnx --random --dim batch=-2"), {"--dim", "'-2'"});
  expect_refusal(hone("run dense.onnx --random --dim batch=4000000000000000"), {"'x'"});
  expect_refusal(hone("run dense.onnx --random --dim batch=2 --target abacus"), {"'abacus'", "cpu"});
}

TEST_F(Refusal, OfPlacesThatCannotBeWrittenNamesThem) {
  write_dense();
  write("file", "");
  expect_refusal(hone("run dense.onnx --random --dim batch=1 --output-dir file"), {"'file'"});
  const Outcome outcome = hone("bench dense.onnx --dim batch=1 --rounds 1 --trace none/t.json");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.errors.find("'none/t.json'"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace hone::command
